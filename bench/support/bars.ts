export type Bar = { what: string; measured: string; bar: string; isReached: boolean };

export function printBars(benches: readonly { name: string; bars: readonly Bar[] }[]): void {
  printTable(
    benches.flatMap(({ name, bars }) =>
      bars.map(({ what, measured, bar, isReached }) => ({
        bench: name,
        what,
        measured,
        target: bar,
        verdict: isReached ? "pass" : "MISS",
      })),
    ),
  );
}

const RESIDENT_BAR_MB = 250;

/** Figures of the Node process under the bench's load. */
export function judgeMemory(residentMb: number): Bar {
  return {
    what: "resident memory of the Node process",
    measured: `${Math.round(residentMb)} MB`,
    bar: `≤ ${RESIDENT_BAR_MB} MB`,
    isReached: residentMb <= RESIDENT_BAR_MB,
  };
}

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
