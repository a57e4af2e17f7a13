import { DAY_MS } from "#contract/durations.ts";

// Days are text, YYYY-MM-DD, and counted as UTC days, which are all of one length.

const DAY_LENGTH = "YYYY-MM-DD".length;

/** Text that is no day comes back as another text. */
export function addDays(day: string, count: number): string {
  const ms = Date.parse(day) + count * DAY_MS;
  return Number.isNaN(ms) ? "" : new Date(ms).toISOString().slice(0, DAY_LENGTH);
}

/** None from a day to itself. */
export function countDays(from: string, to: string): number {
  return Math.round((Date.parse(to) - Date.parse(from)) / DAY_MS);
}

/** The zone's name as the time zone database writes it, or null where there is no such zone. Offsets are not zones. */
export function parseTimeZone(text: string): string | null {
  if (!/^[A-Za-z]/.test(text)) return null;
  try {
    const { timeZoneId } = Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(text);
    // Temporal also takes the zone out of a time: T12:00+01:00 would come back as +01:00.
    return timeZoneId.toLowerCase() === text.toLowerCase() ? timeZoneId : null;
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}
