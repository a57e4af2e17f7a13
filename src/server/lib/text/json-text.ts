/** Null characters and lone surrogates can only appear as escapes, and looking for those is faster than checking every parsed string. */
const MAY_NOT_FIT = /\\u(?:0000|d[89a-f])/i;
/** Deeper and wider than anything that is sent to us or imported. */
const DEPTH_MAX = 10;
const VALUES_MAX = 2_000;

/** Whether JSON is nested too deeply or has too many values, found without parsing. Text that isn't JSON may pass. */
export function isTooComplex(text: string, valuesMax = VALUES_MAX): boolean {
  let [depth, values] = [0, 1];
  for (let index = 0; index < text.length; index++) {
    const character = text[index];
    if (character === '"') index = findEndOfText(text, index);
    else if (character === "[" || character === "{") depth++;
    else if (character === "]" || character === "}") depth--;
    if (character === "[" || character === "{" || character === ",") values++;
    if (depth > DEPTH_MAX || values > valuesMax) return true;
  }
  return false;
}

/** The index of the quote that ends the text; the end of everything if there is none. */
function findEndOfText(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let backslashes = 0;
    while (text[end - 1 - backslashes] === "\\") backslashes++;
    if (backslashes % 2 === 0) return end;
  }
  return text.length;
}

/**
 * JSON whose strings PostgreSQL can store. A lone surrogate becomes U+FFFD, as in UTF-8; the null character, which
 * PostgreSQL refuses, is reported as a fault. Both rules also apply to property names.
 */
export function parseJsonText(text: string): { value: unknown } | { fault: string } {
  if (isTooComplex(text)) return { fault: "it is nested too deeply or has too many values" };
  let hasNull = false;
  try {
    if (!MAY_NOT_FIT.test(text)) return { value: JSON.parse(text) };
    const value: unknown = JSON.parse(text, (name, member: unknown) => {
      if (name.includes("\u0000")) hasNull = true;
      if (typeof member === "object") return withNames(member, toWellFormed);
      if (typeof member !== "string") return member;
      if (member.includes("\u0000")) hasNull = true;
      return toWellFormed(member);
    });
    return hasNull ? { fault: "it contains a null character (\\u0000)" } : { value };
  } catch (error) {
    if (error instanceof SyntaxError) return { fault: "it is not valid JSON" };
    throw error;
  }
}

/**
 * The same for JSON from another system, which can't be asked to fix it: the null character is removed. Throws like
 * JSON.parse.
 */
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
