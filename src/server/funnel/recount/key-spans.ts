import { type RawBuilder, sql } from "kysely";

// Counters of channels, sources and so on are kept per local day, and added up over past spans of days. A window of 30 days
// then reads about ten days and spans, and one of 730 days about 25. Spans are counted from 1 January 1970, regardless of
// months, so that spans of one length exactly fill those of the next.

/** In days, each a multiple of the one before. */
export const SPAN_LENGTHS = [8, 64] as const;
export const SHORTEST_SPAN = SPAN_LENGTHS[0];
export const LONGEST_SPAN = SPAN_LENGTHS[1];

/** The first day of the span of that length that contains the day. */
export function spanStart(day: RawBuilder<unknown>, spanDays: RawBuilder<unknown> | number): RawBuilder<string> {
  const days = typeof spanDays === "number" ? sql.lit(spanDays) : spanDays;
  return sql`(${day} - (${day} - date '1970-01-01') % ${days})`;
}
