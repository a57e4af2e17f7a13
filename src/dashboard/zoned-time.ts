import dayjs from "dayjs";
import timezone from "dayjs/plugin/timezone.js";
import utc from "dayjs/plugin/utc.js";

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
