import { DAY_MS } from "#contract/durations.ts";

// Days are strings, YYYY-MM-DD, and counted as UTC days, which all have the same length.

const DAY_LENGTH = "YYYY-MM-DD".length;

/** A string that is not a valid day comes back changed. */
export function addDays(day: string, count: number): string {
  const ms = Date.parse(day) + count * DAY_MS;
  return Number.isNaN(ms) ? "" : new Date(ms).toISOString().slice(0, DAY_LENGTH);
}

/** 0 for the same day. */
export function countDaysBetween(from: string, to: string): number {
  return Math.round((Date.parse(to) - Date.parse(from)) / DAY_MS);
}

/** The zone's name as the time zone database writes it, or null if it's unknown. Offsets are not zones. */
export function parseTimeZone(text: string): string | null {
  if (!/^[A-Za-z]/.test(text)) return null;
  try {
    const { timeZoneId } = Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(text);
    // Temporal also accepts a time with an offset: T12:00+01:00 would give +01:00.
    return timeZoneId.toLowerCase() === text.toLowerCase() ? timeZoneId : null;
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

/** "5 March 2027 at 15:30 (Europe/Berlin)", rounded down to the minute. */
export function toInstantWords(instant: Date, timeZone: string): string {
  const format = new Intl.DateTimeFormat("en-GB", { dateStyle: "long", timeStyle: "short", timeZone });
  return `${format.format(instant)} (${timeZone})`;
}
