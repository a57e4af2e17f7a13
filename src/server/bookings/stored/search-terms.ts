import type { OrganizationId, WidgetId } from "#contract/ids.ts";
import { ORGANIZATION_ID } from "#contract/ids.ts";

// What is looked up in the index bookings_search for a text that someone typed: the words that booking_grams in
// migrations/0001_baseline.sql makes. Every booking that holds the text has them all; the statement then looks at the text.

/** Bookings are indexed by the week they were made in, counted from 1970, and searched week by week, newest first. */
export const WEEK_SECONDS = 604_800;

/** Stands in a query for the number of the week. No text holds it: control characters are taken out. */
export const WEEK_MARK = "\u0001";

const GRAM_LENGTH = 3;
/** More of them find hardly less. */
const GRAMS_MAX = 6;

/** `o`: reference, service, campaign. `c`: the customer's name and e-mail address. */
export type SearchedPart = "o" | "c";

/** The number of the week that an instant is in. */
export function toWeek(instant: Date): number {
  return Math.floor(instant.getTime() / (WEEK_SECONDS * 1000));
}

/** Null where nothing is left to look for. Spaces at the ends, and what cannot be typed, do not count. */
export function cleanSearch(text: string): string | null {
  return text.replaceAll(/\p{Cc}+/gu, " ").trim() || null;
}

/** A tsquery for one week; `term` is in the letter case and form of the index. */
export function toWeekQuery(
  term: string,
  about: { owner: OrganizationId; parts: readonly SearchedPart[]; widgetId: WidgetId | null },
): string {
  const scope = `${about.owner.slice(ORGANIZATION_ID.prefix.length)}${WEEK_MARK}:`;
  const found = about.parts.map((part) => allOf(toGrams(term).map((gram) => toWord(`${scope}${part}`, gram))));
  const inAnyPart = `(${found.join(" | ")})`;
  return about.widgetId === null ? inAnyPart : `${inAnyPart} & ${quote(`${scope}w${about.widgetId}`)}`;
}

/** The beginning, the end, and evenly spread ones between where there are many. A short text is its own beginning. */
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

function allOf(words: readonly string[]): string {
  return `(${words.join(" & ")})`;
}
