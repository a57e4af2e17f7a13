import type { AppAnalytics } from "#contract/app/analytics.ts";
import { addDays, describeDayRange } from "../days.ts";
import { formatDay, formatRate, pluralize } from "../format.ts";

/** A figure's change since the earlier period. `none`: there is no difference to show, and the text says why. */
export type Change = { direction: "up" | "down" | "same" | "none"; text: string; unit?: string };

const decimals = new Intl.NumberFormat(undefined, { maximumFractionDigits: 1 });

/** In percent of the earlier count. */
export function toCountChange(now: number, before: number): Change {
  if (before === 0 && now > 0) return { direction: "none", text: "Up from 0" };
  return toChange(now - before, formatRate(Math.abs(now - before) / before));
}

type Rated = { views: number; conversionRate: number };

/** Rates are compared in percentage points: a percentage of a percentage misleads. Without views there is no rate. */
export function toRateChange(now: Rated, before: Rated): Change {
  if (now.views === 0) return { direction: "none", text: "No views" };
  if (before.views === 0) return { direction: "none", text: "No earlier views" };
  const points = Math.round((now.conversionRate - before.conversionRate) * 1000) / 10;
  return toChange(points, decimals.format(Math.abs(points)), Math.abs(points) === 1 ? "point" : "points");
}

/** A dash without views: imported bookings have none. */
export function formatConversionRate({ views, conversionRate }: Rated): string {
  return views === 0 ? "–" : formatRate(conversionRate);
}

/** Bookings without a known appointment time have no lead time. */
export function toDaysChange(now: number | null, before: number | null): Change {
  if (now === null) return { direction: "none", text: "No bookings" };
  if (before === null) return { direction: "none", text: "No earlier bookings" };
  const days = Math.round((now - before) * 10) / 10;
  return toChange(days, decimals.format(Math.abs(days)), Math.abs(days) === 1 ? "day" : "days");
}

export function formatDays(days: number): string {
  return decimals.format(days);
}

/** The unit for the rounded number: 1.04 days are shown as 1 day. */
export function toDayUnit(days: number): "day" | "days" {
  return formatDays(days) === formatDays(1) ? "day" : "days";
}

function toChange(difference: number, text: string, unit?: string): Change {
  if (difference === 0) return { direction: "same", text: "No change" };
  return { direction: difference > 0 ? "up" : "down", text, ...(unit && { unit }) };
}

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

export type Loss = {
  count: number;
  /** All views or attempts, lost or not. */
  of: number;
  unit: "views" | "attempts";
};

const NONE_LOST = {
  views: "Every visitor who looked found an available time.",
  attempts: "Every booking went through.",
};
const NONE_COUNTED = {
  views: "No views in this period.",
  attempts: "No booking attempts in this period.",
};

/** Null if something was lost. With no views or attempts, nothing could be lost, so it isn't reported as a success. */
export function describeNoLoss({ count, of, unit }: Loss): { isSuccess: boolean; text: string } | null {
  if (count > 0) return null;
  return of > 0 ? { isSuccess: true, text: NONE_LOST[unit] } : { isSuccess: false, text: NONE_COUNTED[unit] };
}
