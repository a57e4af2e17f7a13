import dayjs from "dayjs";
import timezone from "dayjs/plugin/timezone.js";
import utc from "dayjs/plugin/utc.js";
import { DAY_MS } from "#contract/durations.ts";
import { WINDOW_DAYS_DEFAULT, WINDOW_DAYS_MAX } from "#contract/limits.ts";
import { formatDay } from "./format.ts";

// Days that come from query parameters, which anyone can edit.

/** Returns the text if it is a day such as 2026-11-01, else null, as for 31 February. */
export function toDay(text: string): string | null {
  return /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text)) && addDays(text, 0) === text ? text : null;
}

export function addDays(day: string, count: number): string {
  return new Date(Date.parse(day) + count * DAY_MS).toISOString().slice(0, "YYYY-MM-DD".length);
}

/** From the start of the first day to the end of the last one, which the server excludes; empty without a day. */
export function toInstants({ from, to }: { from: string; to: string }, timeZone: string): { from: string; to: string } {
  const [first, last] = [toDay(from), toDay(to)];
  const dayAfter = last === null ? "" : dayjs(last).add(1, "day").format("YYYY-MM-DD");
  return { from: toInstant(first ?? "", timeZone) ?? "", to: toInstant(dayAfter, timeZone) ?? "" };
}

/** Clamps a number of days to the allowed range; anything else becomes the default of 30. */
export function toDayCount(text: string): string {
  const count = /^\d+$/.test(text) ? Number(text) : WINDOW_DAYS_DEFAULT;
  return String(Math.min(Math.max(count, 1), WINDOW_DAYS_MAX));
}

/** "3 Oct 2026 – 1 Nov 2026" or "Since 3 Oct 2026"; empty if neither is a day. */
export function describeDayRange(from: string, to: string): string {
  const [first, last] = [toDay(from), toDay(to)];
  if (first === null) return last === null ? "" : `Until ${formatDay(last)}`;
  if (last === null) return `Since ${formatDay(first)}`;
  return first === last ? formatDay(first) : `${formatDay(first)} – ${formatDay(last)}`;
}

// Converts between instants and local times in a time zone, in the format of `datetime-local` and `date` inputs.

dayjs.extend(utc);
dayjs.extend(timezone);

/** Local time such as 2026-11-01T13:00 to an ISO instant; null if it is not a valid time. */
export function toInstant(local: string, timeZone: string): string | null {
  if (!dayjs(local).isValid()) return null;
  return dayjs.tz(local, timeZone).toISOString();
}

export function toLocalTime(instant: string, timeZone: string): string {
  return dayjs(instant).tz(timeZone).format("YYYY-MM-DDTHH:mm");
}

/** ISO instant `count` units ago. */
export function instantAgo(count: number, unit: "hour" | "day"): string {
  return dayjs().subtract(count, unit).toISOString();
}

/** The calendar day `days` days from today. */
export function dayAhead(days: number, timeZone: string): string {
  return dayjs().tz(timeZone).add(days, "day").format("YYYY-MM-DD");
}

/** The last second of a calendar day, as an ISO instant. */
export function toEndOfDay(day: string, timeZone: string): string | null {
  return toInstant(`${day}T23:59:59`, timeZone);
}

/** Sunday is 0. */
export type DayOfWeek = 0 | 1 | 2 | 3 | 4 | 5 | 6;

/** The first day of the week in the reader's locale; Monday if the browser can't tell. */
export const FIRST_DAY_OF_WEEK = readFirstDayOfWeek();

function readFirstDayOfWeek(): DayOfWeek {
  const { locale } = new Intl.DateTimeFormat().resolvedOptions();
  // The compiler's library doesn't know getWeekInfo yet. Intl counts Sunday as 7.
  const known: Intl.Locale & { getWeekInfo?: () => { firstDay: number } } = new Intl.Locale(locale);
  return ((known.getWeekInfo?.().firstDay ?? 1) % 7) as DayOfWeek;
}
