/** Columns as wide as needed, with numbers right-aligned. */
export function printTable(rows: readonly Readonly<Record<string, string | number>>[]): void {
  const names = Object.keys(rows[0] ?? {});
  const cells = [names, ...rows.map((row) => names.map((name) => String(row[name] ?? "")))];
  const widths = names.map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)));
  const isNumber = (text: string) => /^[\d.,%×-]+( \w+)?$/.test(text);
  for (const row of cells)
    console.log(
      row
        .map((text, column) => {
          const width = widths[column] ?? 0;
          return isNumber(text) ? text.padStart(width) : text.padEnd(width);
        })
        .join("  ")
        .trimEnd(),
    );
}

/** Three significant figures, since no measurement here is more precise. */
export function round(value: number): string {
  return value >= 100 ? Math.round(value).toLocaleString("en") : value.toPrecision(3);
}
