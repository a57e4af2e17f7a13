import { type RawBuilder, sql } from "kysely";

// Counters of channels, sources and so on are kept per local day, and added up over past spans of days. A window of 30 days
// then always reads eight days and spans, and one of 730 days about 20. Spans are counted from 1 January 1970, regardless of
// months, so that spans of one length exactly fill those of the next.

/** Widget id under which all widgets are counted together. */
export const ALL_WIDGETS = "";

/** In days, each a multiple of the one before. Thirty is a multiple of the first two, so its windows take the same time every day. */
export const SPAN_LENGTHS = [5, 10, 60] as const;
/** Days of a single widget have few keys in common: spans of five days would have half as many rows as the days. */
export const WIDGET_SPAN_LENGTHS = [10, 60] as const;
export const SHORTEST_SPAN = SPAN_LENGTHS[0];
export const LONGEST_SPAN = SPAN_LENGTHS[2];

/** The length of the spans that are added up to longer ones. Every widget has them. */
const PART = WIDGET_SPAN_LENGTHS[0];

/** What spans of this length are added up from: shorter spans, or days if null. */
export function partOf(length: number): number | null {
  return length > PART ? PART : null;
}

/** Whether the widget has spans of this length. */
export function hasSpans(widgetId: RawBuilder<unknown>, spanDays: RawBuilder<unknown> | number): RawBuilder<boolean> {
  const days = typeof spanDays === "number" ? sql.lit(spanDays) : spanDays;
  return sql`(${widgetId} = ${sql.lit(ALL_WIDGETS)} or ${days} >= ${sql.lit(WIDGET_SPAN_LENGTHS[0])})`;
}

/** The first day of the span of that length that contains the day. */
export function spanStart(day: RawBuilder<unknown>, spanDays: RawBuilder<unknown> | number): RawBuilder<string> {
  const days = typeof spanDays === "number" ? sql.lit(spanDays) : spanDays;
  return sql`(${day} - (${day} - date '1970-01-01') % ${days})`;
}
