import { type RawBuilder, sql } from "kysely";

// Counters of channels, sources and so on are kept per local day, and added up over past spans of days. A window of 30 days
// then reads eight days and spans of all widgets together, or twelve of one; one of 730 days reads about 20 or 25. Spans are
// counted from 1 January 1970, regardless of months, so that spans of one length exactly fill those of the next.

/** Widget id under which all widgets are counted together. */
export const ALL_WIDGETS = "";

/** In days, each a multiple of the one before. 30 is a multiple of the first two, so windows of 30 days take the same time every day. */
export const SPAN_LENGTHS = [5, 10, 60] as const;
export const [SHORTEST_SPAN, SHORTEST_WIDGET_SPAN, LONGEST_SPAN] = SPAN_LENGTHS;
/** Days of a single widget have few keys in common: spans of five days would have half as many rows as the days. */
export const WIDGET_SPAN_LENGTHS = [SHORTEST_WIDGET_SPAN, LONGEST_SPAN] as const;

/** The length of the shorter spans that spans of this length are added up from, or null for days. */
export function shorterSpanOf(length: number): number | null {
  return length === LONGEST_SPAN ? SHORTEST_WIDGET_SPAN : null;
}

/** Whether the widget has spans of this length. */
export function hasSpans(widgetId: RawBuilder<unknown>, spanDays: RawBuilder<unknown> | number): RawBuilder<boolean> {
  return sql`(${widgetId} = ${sql.lit(ALL_WIDGETS)} or ${toSql(spanDays)} >= ${sql.lit(SHORTEST_WIDGET_SPAN)})`;
}

/** The first day of the span of that length that contains the day. */
export function spanStart(day: RawBuilder<unknown>, spanDays: RawBuilder<unknown> | number): RawBuilder<string> {
  return sql`(${day} - (${day} - date '1970-01-01') % ${toSql(spanDays)})`;
}

function toSql(days: RawBuilder<unknown> | number): RawBuilder<unknown> {
  return typeof days === "number" ? sql.lit(days) : days;
}
