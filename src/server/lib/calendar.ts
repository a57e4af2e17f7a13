import type { RetentionPeriod } from "#contract/plans.ts";

/** The oldest instant that is still kept. Months are calendar months, counted in UTC: 31 March less a month is 28 February. */
export function retentionCutoff(period: RetentionPeriod, now: Date): Date {
  const end = Temporal.Instant.fromEpochMilliseconds(now.getTime()).toZonedDateTimeISO("UTC");
  return new Date(end.subtract(period).epochMilliseconds);
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
