import { ORGANIZATION_ID, type OrganizationId, type WidgetId } from "#contract/ids.ts";

// Turns a search text into words of the index bookings_search, which booking_grams in migrations/0001_baseline.sql makes.
// Every matching booking has all of these words; the statement then compares the text itself.

/** Bookings are indexed by the week they were made in, counted from 1970. */
export const WEEK_SECONDS = 604_800;

/** Placeholder for the week's number. No search text contains it: control characters are removed. */
export const WEEK_MARK = "\u0001";

const GRAM_LENGTH = 3;
/** More than this hardly narrows the search. */
const GRAMS_MAX = 6;

/** `o`: reference, service, campaign. `c`: the customer's name and email address. */
export type SearchedPart = "o" | "c";

export function toWeek(instant: Date): number {
  return Math.floor(instant.getTime() / (WEEK_SECONDS * 1000));
}

/** A tsquery for one week; `term` is in the letter case and form of the index. */
export function toWeekQuery(
  term: string,
  { owner, parts, widgetId }: { owner: OrganizationId; parts: readonly SearchedPart[]; widgetId: WidgetId | null },
): string {
  const scope = `${owner.slice(ORGANIZATION_ID.prefix.length)}${WEEK_MARK}:`;
  const found = parts.map((part) => {
    const words = toGrams(term).map((gram) => toWord(`${scope}${part}`, gram));
    return `(${words.join(" & ")})`;
  });
  const inAnyPart = `(${found.join(" | ")})`;
  return widgetId === null ? inAnyPart : `${inAnyPart} & ${quote(`${scope}w${widgetId}`)}`;
}

/** The first, the last and evenly spread grams between them. A text shorter than a gram is matched as a prefix. */
function toGrams(term: string): string[] {
  const letters = [...term];
  const last = Math.max(0, letters.length - GRAM_LENGTH);
  const count = Math.min(last + 1, GRAMS_MAX);
  const starts = Array.from({ length: count }, (_, i) => (count === 1 ? 0 : Math.round((i * last) / (count - 1))));
  return [...new Set(starts)].map((start) => letters.slice(start, start + GRAM_LENGTH).join(""));
}

function toWord(prefix: string, gram: string): string {
  return [...gram].length < GRAM_LENGTH ? `${quote(prefix + gram)}:*` : quote(prefix + gram);
}

function quote(word: string): string {
  return `'${word.replaceAll("\\", "\\\\").replaceAll("'", "''")}'`;
}
