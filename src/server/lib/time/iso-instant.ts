import { MINUTE_MS } from "#contract/durations.ts";

const FORM = /^(\d{4})-(\d{2})-(\d{2})(?:T(\d{2}):(\d{2})(?::(\d{2})(?:\.(\d+))?)?(Z|[+\- ]\d{2}(?::?\d{2})?)?)?$/i;

const OLDEST_YEAR = 1;
const OLDEST_MS = Date.parse("0001-01-01T00:00:00.000Z");
/** Nearly all texts come from toISOString. Date reads this form itself, several times as fast. */
const USUAL_FORM = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/;

/**
 * A date, or a date and time with `Z`, an offset, or none (then UTC, never the server's zone). Null for anything else,
 * and for days and times that do not exist. A space before the offset stands for a `+`, which query strings decode to a
 * space. Digits beyond the millisecond are rounded down or up, so that a bound never cuts off the millisecond it names.
 */
export function parseIsoInstant(text: string, rounding: "down" | "up"): Date | null {
  if (USUAL_FORM.test(text)) {
    const instant = new Date(text);
    // Date turns 30 February into a day in March, and 24:00 into the next day.
    return instant.getUTCDate() === Number(text.slice(8, 10)) && instant.getTime() >= OLDEST_MS ? instant : null;
  }
  const match = FORM.exec(text);
  if (!match) return null;
  const [, year, month, day, hour = "00", minute = "00", second = "00", fraction = "", zone = "Z"] = match;
  const wallClock = toUtc([year, month, day, hour, minute, second].map(Number));
  // Date turns 30 February into a day in March. If it does not format back to the input, the date does not exist.
  const readBack = new Date(wallClock).toISOString().slice(0, 19);
  if (Number(year) < OLDEST_YEAR || readBack !== `${year}-${month}-${day}T${hour}:${minute}:${second}`) return null;
  const offsetMinutes = parseOffset(zone);
  if (offsetMinutes === null) return null;
  return new Date(wallClock + toMilliseconds(fraction, rounding) - offsetMinutes * MINUTE_MS);
}

/** Date.UTC maps the years 0 to 99 to 1900 to 1999. */
function toUtc([year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0]: readonly number[]): number {
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  return date.setUTCHours(hour, minute, second);
}

function toMilliseconds(fraction: string, rounding: "down" | "up"): number {
  const whole = Number(fraction.slice(0, 3).padEnd(3, "0"));
  return rounding === "up" && /[1-9]/.test(fraction.slice(3)) ? whole + 1 : whole;
}

function parseOffset(zone: string): number | null {
  if (zone.toUpperCase() === "Z") return 0;
  const hours = Number(zone.slice(1, 3));
  const minutes = Number(zone.slice(3).replace(":", "") || "0");
  if (hours > 23 || minutes > 59) return null;
  return (zone.startsWith("-") ? -1 : 1) * (hours * 60 + minutes);
}
