import { MINUTE_MS } from "#contract/durations.ts";
import type { DateTimeTimeZone, Times } from "./shapes.ts";
import { toIanaZone } from "./windows-zones.ts";

/** Ten years. A longer duration would lead to dates that don't exist. */
const DURATION_MINUTES_MAX = 10 * 365 * 24 * 60;

/** `PT1H30M`, `P365D`; ten years at most. Null for anything that is not a duration of fixed length. */
export function toMinutes(duration: string | null | undefined): number | null {
  if (duration === null || duration === undefined) return null;
  try {
    const minutes = Temporal.Duration.from(duration).total("minutes");
    return Math.min(Math.max(minutes, -DURATION_MINUTES_MAX), DURATION_MINUTES_MAX);
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

/** Graph writes seven fractional digits, and usually names the zone beside the time instead of adding an offset. */
export function toInstant(time: DateTimeTimeZone): Date | null {
  try {
    if (/(Z|[+-]\d{2}:?\d{2})$/i.test(time.dateTime)) {
      return new Date(Temporal.Instant.from(time.dateTime).epochMilliseconds);
    }
    const timeZone = toIanaZone(time.timeZone ?? "UTC");
    if (timeZone === null) return null;
    return new Date(Temporal.PlainDateTime.from(time.dateTime).toZonedDateTime(timeZone).epochMilliseconds);
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

export function toStart(times: Times): Date | null {
  return toInstant("start" in times ? times.start : times.startDateTime);
}

export function toEnd(times: Times): Date | null {
  return toInstant("end" in times ? times.end : times.endDateTime);
}

/** The format of a new appointment's times. */
export function toGraphTime(instant: Date): { "@odata.type": string; dateTime: string; timeZone: "UTC" } {
  return {
    "@odata.type": "#microsoft.graph.dateTimeTimeZone",
    dateTime: instant.toISOString().replace(/Z$/, "0000+00:00"),
    timeZone: "UTC",
  };
}

/** The format of the times of an availability request: whole minutes, rounded so that nothing is left out. */
export function toGraphMinute(instant: Date, rounding: "down" | "up"): { dateTime: string; timeZone: "UTC" } {
  const round = rounding === "down" ? Math.floor : Math.ceil;
  const rounded = new Date(round(instant.getTime() / MINUTE_MS) * MINUTE_MS);
  return { dateTime: rounded.toISOString().slice(0, 19), timeZone: "UTC" };
}
