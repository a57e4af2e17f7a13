/** Longer values are cut: the log says what was changed, and isn't a copy of it. */
const VALUE_LENGTH_MAX = 80;

/**
 * The changed fields with their old and new values, for an entry's detail: "classic → minimal". The name has its own place
 * (`formerName`). Never for secrets, or for URLs that work like one.
 */
export function describeChanges(before: object, after: object): Record<string, string> {
  const old = new Map<string, unknown>(Object.entries(before));
  const values = Object.entries(after).flatMap(([field, value]) => {
    const [from, to] = [toText(old.get(field)), toText(value)];
    return field === "name" || from === to ? [] : [[field, `${from} → ${to}`]];
  });
  return { changed: Object.keys(after).join(", "), ...Object.fromEntries(values) };
}

function toText(value: unknown): string {
  if (value === null || value === undefined || value === "") return "none";
  if (typeof value === "boolean") return value ? "on" : "off";
  const text =
    typeof value === "object" ? (Array.isArray(value) ? value.join(", ") : JSON.stringify(value)) : String(value);
  if (text === "") return "none";
  return [...text].length > VALUE_LENGTH_MAX ? `${[...text].slice(0, VALUE_LENGTH_MAX).join("")}…` : text;
}
