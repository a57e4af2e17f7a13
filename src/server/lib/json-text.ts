/**
 * JSON whose strings PostgreSQL can hold: a lone half of a surrogate pair becomes U+FFFD, as it would in UTF-8; the null
 * character, which PostgreSQL refuses, is named as the fault it is. Both hold for the names of members too.
 */
export function parseJsonText(text: string): { value: unknown } | { fault: string } {
  let hasNull = false;
  try {
    const value: unknown = JSON.parse(text, (name, member: unknown) => {
      if (name.includes("\u0000")) hasNull = true;
      if (typeof member === "object") return withWellFormedNames(member);
      if (typeof member !== "string") return member;
      if (member.includes("\u0000")) hasNull = true;
      return member.toWellFormed();
    });
    return hasNull ? { fault: "it holds a null character (\\u0000)" } : { value };
  } catch (error) {
    if (error instanceof SyntaxError) return { fault: "it is not valid JSON" };
    // The stack, which the parser needs more of with every bracket.
    if (error instanceof RangeError) return { fault: "it is nested too deeply" };
    throw error;
  }
}

function withWellFormedNames(value: object | null): object | null {
  if (value === null || Array.isArray(value) || Object.keys(value).every((name) => name.isWellFormed())) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name.toWellFormed(), member]));
}
