import { type RawBuilder, sql } from "kysely";

// Counters of channels, sources and campaigns are kept per local day, and added up over spans of days that are over. A window
// of 30 days then reads about nine days and three spans, one of 730 days about nine days, seven short and ten long spans.
// Spans are counted from 1 January 1970, whatever the month, so that short ones fill long ones.

export const SHORT_SPAN_DAYS = 8;
export const LONG_SPAN_DAYS = 64;

/** The first day of the span of that length which the day falls into. */
export function spanStart(day: RawBuilder<unknown>, spanDays: RawBuilder<unknown> | number): RawBuilder<string> {
  const days = typeof spanDays === "number" ? sql.lit(spanDays) : spanDays;
  return sql`(${day} - (${day} - date '1970-01-01') % ${days})`;
}
