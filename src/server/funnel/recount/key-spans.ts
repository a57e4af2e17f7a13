import { type RawBuilder, sql } from "kysely";

// Counters of channels, sources and so on are kept per local day, and added up over spans of days that are over. A window of
// 30 days then reads about ten days and spans, one of 730 days about 25. Spans are counted from 1 January 1970, whatever the
// month, so that spans of one length fill those of the next.

/** In days, each a multiple of the one before. */
export const SPAN_LENGTHS = [8, 64] as const;
export const SHORTEST_SPAN = SPAN_LENGTHS[0];

/** The first day of the span of that length which the day falls into. */
export function spanStart(day: RawBuilder<unknown>, spanDays: RawBuilder<unknown> | number): RawBuilder<string> {
  const days = typeof spanDays === "number" ? sql.lit(spanDays) : spanDays;
  return sql`(${day} - (${day} - date '1970-01-01') % ${days})`;
}
