// Comma-separated values (RFC 4180), written so that a spreadsheet treats them as text.

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
 * Text from a form must not run as a formula in the reader's spreadsheet. Where the list separator is a semicolon,
 * commas and the quotes after them have no meaning, so the text splits at semicolons and line ends, and a formula can
 * begin there too. The lookbehind only walks back over spaces and quotes, so the time stays linear.
 */
function withoutFormulas(text: string): string {
  const guarded = text.replace(/(?<=(?:^|[;\t\r\n])[\s"']*)[=+\-@]/g, "'$&");
  return /^[\t\r\n]/.test(guarded) ? `'${guarded}` : guarded;
}
