/**
 * An array as PostgreSQL reads it: {"a","b",NULL}. node-postgres would write the same and take three times as long, which
 * counts where every event of every visitor goes through a dozen arrays.
 */
export function toArrayText(values: readonly (string | null)[]): string {
  let text = "{";
  for (let i = 0; i < values.length; i++) {
    const value = values[i] ?? null;
    if (i > 0) text += ",";
    text += value === null ? "NULL" : quote(value);
  }
  return `${text}}`;
}

function quote(value: string): string {
  const isPlain = !value.includes('"') && !value.includes("\\");
  return isPlain ? `"${value}"` : `"${value.replace(/["\\]/g, "\\$&")}"`;
}
