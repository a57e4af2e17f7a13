import type { Dimension } from "#contract/analytics/dimensions.ts";
import { FUNNEL_STEPS } from "#contract/analytics/steps.ts";
import type { AppAnalytics, AppBreakdown } from "#contract/app/analytics.ts";
import { BYTE_ORDER_MARK, type CsvCell, toCsvLine } from "../../lib/text/csv.ts";
import { isNamed } from "./breakdown/breakdown.ts";

/** `breakdown` is the whole list of one dimension. */
export const ANALYTICS_TABLES = ["daily", "funnel", "breakdown"] as const;
type ReportTable = Exclude<(typeof ANALYTICS_TABLES)[number], "breakdown">;

export function exportAnalytics(report: AppAnalytics, table: ReportTable): string[] {
  return [BYTE_ORDER_MARK + toLines(report, table).map(toCsvLine).join("")];
}

type Row = AppBreakdown["rows"][number];
type Column = readonly [heading: string, toCell: (row: Row) => CsvCell];

export function* exportBreakdown(dimension: Dimension, pieces: Iterable<readonly Row[]>): Generator<string> {
  const columns = listColumns(dimension);
  yield BYTE_ORDER_MARK + toCsvLine(columns.map(([heading]) => heading));
  for (const rows of pieces) yield rows.map((row) => toCsvLine(columns.map(([, toCell]) => toCell(row)))).join("");
}

/** The views of a service are only the visits that booked it, so the file leaves them out. */
function listColumns(dimension: Dimension): Column[] {
  const key: Column = [dimension === "source" ? "source / medium" : dimension, (row) => row.key];
  const name: Column = ["name", (row) => row.label];
  const bookings: Column = ["bookings", (row) => row.bookings];
  if (dimension === "service") return [key, bookings];
  const hasName = dimension === "widget" || isNamed(dimension);
  return [
    key,
    ...(hasName ? [name] : []),
    ["views", (row) => row.views],
    bookings,
    ["conversionRate", (row) => row.conversionRate],
  ];
}

function toLines(report: AppAnalytics, table: ReportTable): CsvCell[][] {
  switch (table) {
    case "daily":
      return [["day", "views", "bookings"], ...report.daily.map(({ day, views, bookings }) => [day, views, bookings])];
    case "funnel":
      return [["step", "visits"], ...FUNNEL_STEPS.map((step) => [step, report.funnel[step]])];
    default:
      return table satisfies never;
  }
}
