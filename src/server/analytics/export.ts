import type { AnalyticsEntry } from "#contract/analytics.ts";
import type { AppAnalytics } from "#contract/app/analytics.ts";
import { FUNNEL_STEPS } from "#contract/steps.ts";
import { BYTE_ORDER_MARK, type CsvCell, toCsvLine } from "../lib/csv.ts";

export const ANALYTICS_TABLES = ["daily", "funnel", "channels", "sources", "campaigns"] as const;
export type AnalyticsTable = (typeof ANALYTICS_TABLES)[number];

/** One of a report's tables, as shown on screen. */
export function exportAnalytics(report: AppAnalytics, table: AnalyticsTable): string {
  return BYTE_ORDER_MARK + toLines(report, table).map(toCsvLine).join("");
}

function toLines(report: AppAnalytics, table: AnalyticsTable): CsvCell[][] {
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
