/** An array in PostgreSQL's text format: {"a","b",NULL}. Recording an event needs a dozen, and node-postgres is slow at them. */
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
