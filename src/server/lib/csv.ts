// Comma-separated values as RFC 4180 has them, made so that a spreadsheet opens them as text.

/** Tells Excel that what follows is UTF-8. */
export const BYTE_ORDER_MARK = "\uFEFF";

export type CsvCell = string | number | boolean | null | undefined;

export function toCsvLine(cells: readonly CsvCell[]): string {
  return `${cells.map(toCell).join(",")}\r\n`;
}

function toCell(cell: CsvCell): string {
  if (cell === null || cell === undefined) return "";
  if (typeof cell !== "string") return String(cell);
  const text = withoutFormulas(cell);
  return /[",;\t\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/**
 * Whoever fills in a form must not run formulas in the reader's spreadsheet. Where its list separator is a semicolon, a comma
 * separates nothing, so a quote behind one opens nothing, and the text splits at semicolons and line ends: a formula can begin
 * there too. The lookbehind walks back over spaces and quotes only, so the time stays linear.
 */
function withoutFormulas(text: string): string {
  const guarded = text.replace(/(?<=(?:^|[;\t\r\n])[\s"']*)[=+\-@]/g, "'$&");
  return /^[\t\r\n]/.test(guarded) ? `'${guarded}` : guarded;
}
