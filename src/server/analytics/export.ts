import type { AnalyticsEntry } from "#contract/analytics.ts";
import type { AppAnalytics, AppBreakdown } from "#contract/app/analytics.ts";
import type { Dimension } from "#contract/dimensions.ts";
import { FUNNEL_STEPS } from "#contract/steps.ts";
import { BYTE_ORDER_MARK, type CsvCell, toCsvLine } from "../lib/csv.ts";

/** `breakdown` is the whole list of one dimension. */
export const ANALYTICS_TABLES = ["daily", "funnel", "channels", "sources", "campaigns", "breakdown"] as const;
export type AnalyticsTable = (typeof ANALYTICS_TABLES)[number];
type ReportTable = Exclude<AnalyticsTable, "breakdown">;

/** One of a report's tables, as shown on screen. */
export function exportAnalytics(report: AppAnalytics, table: ReportTable): string {
  return BYTE_ORDER_MARK + toLines(report, table).map(toCsvLine).join("");
}

/** The whole list of a dimension; widgets also with their names. */
export function exportBreakdown(dimension: Dimension, rows: AppBreakdown["rows"]): string {
  const names = dimension === "widget" ? ["name"] : [];
  const lines: CsvCell[][] = [
    [dimension === "source" ? "source / medium" : dimension, ...names, "views", "bookings", "conversionRate"],
    ...rows.map(({ key, label, views, bookings, conversionRate }) => [
      key,
      ...(dimension === "widget" ? [label] : []),
      views,
      bookings,
      conversionRate,
    ]),
  ];
  return BYTE_ORDER_MARK + lines.map(toCsvLine).join("");
}

function toLines(report: AppAnalytics, table: ReportTable): CsvCell[][] {
  switch (table) {
    case "daily":
      return [["day", "views", "bookings"], ...report.daily.map(({ day, views, bookings }) => [day, views, bookings])];
    case "funnel":
      return [["step", "visits"], ...FUNNEL_STEPS.map((step) => [step, report.funnel[step]])];
    case "channels":
      return toEntryLines("channel", report.channels);
    case "sources":
      return toEntryLines("source / medium", report.sources);
    case "campaigns":
      return toEntryLines("campaign", report.campaigns);
    default:
      return table satisfies never;
  }
}

function toEntryLines(heading: string, entries: readonly AnalyticsEntry[]): CsvCell[][] {
  const lines = entries.map(({ key, views, bookings, conversionRate }) => [key, views, bookings, conversionRate]);
  return [[heading, "views", "bookings", "conversionRate"], ...lines];
}
