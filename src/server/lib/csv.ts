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
  const text = isFormula(cell) ? `'${cell}` : cell;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** What a spreadsheet would compute instead of show. Whoever fills in a form must not run anything in the reader's one. */
function isFormula(text: string): boolean {
  return /^[=+\-@\t\r\n]/.test(text);
}
