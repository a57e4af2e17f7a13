/**
 * JSON whose strings PostgreSQL can hold: a lone half of a surrogate pair becomes U+FFFD, as it would in UTF-8; the null
 * character, which PostgreSQL refuses, is named as the fault it is.
 */
export function parseJsonText(text: string): { value: unknown } | { fault: string } {
  let hasNull = false;
  try {
    const value: unknown = JSON.parse(text, (_key, member: unknown) => {
      if (typeof member !== "string") return member;
      if (member.includes("\u0000")) hasNull = true;
      return member.toWellFormed();
    });
    return hasNull ? { fault: "it holds a null character (\\u0000)" } : { value };
  } catch (error) {
    if (error instanceof SyntaxError) return { fault: "it is not valid JSON" };
    throw error;
  }
}
