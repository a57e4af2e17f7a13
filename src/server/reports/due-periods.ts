import { REPORT_HOUR, type ReportPeriod } from "#contract/app/reports.ts";
import { addDays, countDaysBetween } from "../lib/time/calendar.ts";

// Weeks are from Monday to Sunday and reported on the next Monday; months are reported on the first of the next one.

/** Calendar days, both included. */
type PeriodDays = { from: string; to: string; days: number };

const SENT_FROM = Temporal.PlainTime.from({ hour: REPORT_HOUR });

/** First day of the latest week or month whose report is due in this time zone. */
export function findDueStart(period: ReportPeriod, timeZone: string, now: Date): string {
  const local = Temporal.Instant.fromEpochMilliseconds(now.getTime()).toZonedDateTimeISO(timeZone);
  const isBeforeHour = Temporal.PlainTime.compare(local.toPlainTime(), SENT_FROM) < 0;
  const day = local.toPlainDate().subtract({ days: isBeforeHour ? 1 : 0 });
  return period === "weekly"
    ? day.subtract({ days: day.dayOfWeek - 1 + 7 }).toString()
    : day.with({ day: 1 }).subtract({ months: 1 }).toString();
}

export function nextStart(period: ReportPeriod, start: string): string {
  return period === "weekly" ? addDays(start, 7) : addMonths(start, 1);
}

/** The days of the week or month that begins with this day. */
export function toPeriodDays(period: ReportPeriod, start: string): PeriodDays {
  const to = addDays(nextStart(period, start), -1);
  return { from: start, to, days: countDaysBetween(start, to) + 1 };
}

export function toDaysBefore(period: ReportPeriod, start: string): PeriodDays {
  return toPeriodDays(period, period === "weekly" ? addDays(start, -7) : addMonths(start, -1));
}

function addMonths(day: string, months: number): string {
  return Temporal.PlainDate.from(day).add({ months }).toString();
}
