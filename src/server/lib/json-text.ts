/**
 * JSON whose strings PostgreSQL can hold: a lone half of a surrogate pair becomes U+FFFD, as it would in UTF-8; the null
 * character, which PostgreSQL refuses, is named as the fault it is. Both hold for the names of members too.
 */
export function parseJsonText(text: string): { value: unknown } | { fault: string } {
  let hasNull = false;
  try {
    const value: unknown = JSON.parse(text, (name, member: unknown) => {
      if (name.includes("\u0000")) hasNull = true;
      if (typeof member === "object") return withNames(member, toWellFormed);
      if (typeof member !== "string") return member;
      if (member.includes("\u0000")) hasNull = true;
      return toWellFormed(member);
    });
    return hasNull ? { fault: "it holds a null character (\\u0000)" } : { value };
  } catch (error) {
    if (error instanceof SyntaxError) return { fault: "it is not valid JSON" };
    // The stack, which the parser needs more of with every bracket.
    if (error instanceof RangeError) return { fault: "it is nested too deeply" };
    throw error;
  }
}

/** Neither can be in a JSON text but as an escape; and looking at every string takes longer than parsing. */
const MAY_NOT_FIT = /\\u(?:0000|d[89a-f])/i;

/** The same of a system that cannot be told to mend its JSON: the null character is left out. Throws as JSON.parse does. */
export function parseForeignJson(text: string): unknown {
  if (!MAY_NOT_FIT.test(text)) return JSON.parse(text);
  return JSON.parse(text, (_name, member: unknown) => {
    if (typeof member === "object") return withNames(member, toFitting);
    return typeof member === "string" ? toFitting(member) : member;
  });
}

const toWellFormed = (text: string) => text.toWellFormed();
const toFitting = (text: string) => text.replaceAll("\u0000", "").toWellFormed();

function withNames(value: object | null, mend: (name: string) => string): object | null {
  if (value === null || Array.isArray(value) || Object.keys(value).every((name) => mend(name) === name)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [mend(name), member]));
}
