import type { AppAnalytics } from "#contract/app/analytics.ts";
import { addDays, describeDayRange } from "../day-range.ts";
import { formatDay, pluralize } from "../format.ts";

type Plan = { name: string; retention: string; keptSinceDay: string };

export function describeReport(report: AppAnalytics, plan: Plan): string {
  const limit = report.from < plan.keptSinceDay ? ` The ${plan.name} plan keeps ${plan.retention} of data.` : "";
  return describePeriodOf(report) + limit;
}

export function describePeriodOf(report: AppAnalytics): string {
  return [
    `${describeDayRange(report.from, report.to)}.`,
    report.now.startsWith(report.to) ? "Includes today so far." : "",
    report.dataSince !== null && report.from < report.dataSince ? `Data since ${formatDay(report.dataSince)}.` : "",
    report.previous?.isComplete ? describeComparison(report, report.previous) : "",
  ]
    .filter(Boolean)
    .join(" ");
}

type Compared = Pick<AppAnalytics, "from" | "days">;
type Previous = Pick<NonNullable<AppAnalytics["previous"]>, "from" | "to" | "untilTime" | "daily">;

/** Says so if the periods differ in length, because then their counts do too. */
export function describeComparison(report: Compared, previous: Previous): string {
  const until = previous.untilTime === null ? "" : " up to the same time of day";
  const days = previous.daily.length;
  if (days !== report.days)
    return `Compared with ${describeDayRange(previous.from, previous.to)}${until} (${pluralize(days, "day")}; the selected period has ${report.days}).`;
  if (addDays(previous.to, 1) !== report.from)
    return `Compared with ${describeDayRange(previous.from, previous.to)}${until}.`;
  return days === 1
    ? `Compared with the day before${until}.`
    : `Compared with the previous ${pluralize(days, "day")}${until}.`;
}
