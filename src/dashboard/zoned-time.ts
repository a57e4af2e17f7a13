import dayjs from "dayjs";
import timezone from "dayjs/plugin/timezone.js";
import utc from "dayjs/plugin/utc.js";

// Between instants and what a clock on the wall shows somewhere, in the form of inputs of kind `datetime-local` and `date`.

dayjs.extend(utc);
dayjs.extend(timezone);

/** 2026-11-01T13:00 there, as an ISO instant; null for what is no time. */
export function toInstant(local: string, timeZone: string): string | null {
  if (!dayjs(local).isValid()) return null;
  return dayjs.tz(local, timeZone).toISOString();
}

/** The other way round, to the minute. */
export function toLocalTime(instant: string, timeZone: string): string {
  return dayjs(instant).tz(timeZone).format("YYYY-MM-DDTHH:mm");
}

/** An instant so much before now. */
export function before(count: number, unit: "hour" | "day"): string {
  return dayjs().subtract(count, unit).toISOString();
}

/** The calendar day so many days from now, there. */
export function dayAhead(days: number, timeZone: string): string {
  return dayjs().tz(timeZone).add(days, "day").format("YYYY-MM-DD");
}

/** The last second of a calendar day, there. */
export function toEndOfDay(day: string, timeZone: string): string | null {
  return toInstant(`${day}T23:59:59`, timeZone);
}
