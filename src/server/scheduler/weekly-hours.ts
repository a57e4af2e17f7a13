import { MINUTE_MS } from "#contract/durations.ts";
import type { Interval } from "./intervals.ts";

/** Opening hours of one weekday in local time. 1 is Monday, 7 is Sunday. Closing at 00:00 means the midnight after. */
export type WeeklyHours = { readonly weekday: number; readonly opens: string; readonly closes: string };

/**
 * The open hours of each day between `from` and `to`, sorted. When clocks change, hours have their real length, and a skipped
 * time moves forward by as much as the clocks do: when 02:00 becomes 03:00, an opening at 02:30 is at 03:30.
 */
export function toOpenIntervals(
  hours: readonly WeeklyHours[],
  options: { timeZone: string; from: Date; to: Date },
): Interval[] {
  const lastDay = toLocalDay(options.to, options.timeZone);
  const open: Interval[] = [];
  // One day earlier, because hours may run past midnight.
  let day = toLocalDay(options.from, options.timeZone).subtract({ days: 1 });
  while (Temporal.PlainDate.compare(day, lastDay) <= 0) {
    for (const { weekday, opens, closes } of hours) {
      if (weekday !== day.dayOfWeek) continue;
      const closingDay = closes <= opens ? day.add({ days: 1 }) : day;
      const startMs = toInstantMs(day, opens, options.timeZone);
      const endMs = toInstantMs(closingDay, closes, options.timeZone);
      if (endMs > startMs) open.push({ startMs, endMs });
    }
    day = day.add({ days: 1 });
  }
  return open.sort((a, b) => a.startMs - b.startMs);
}

/** Every `stepMinutes` from each opening, while the whole duration fits before closing. */
export function toStartTimes(
  open: readonly Interval[],
  options: { stepMinutes: number; durationMinutes: number },
): number[] {
  const startTimes = new Set<number>();
  for (const { startMs, endMs } of open) {
    const lastMs = endMs - options.durationMinutes * MINUTE_MS;
    for (let atMs = startMs; atMs <= lastMs; atMs += options.stepMinutes * MINUTE_MS) startTimes.add(atMs);
  }
  return [...startTimes].sort((a, b) => a - b);
}

function toLocalDay(instant: Date, timeZone: string): Temporal.PlainDate {
  return Temporal.Instant.fromEpochMilliseconds(instant.getTime()).toZonedDateTimeISO(timeZone).toPlainDate();
}

/** From the start of the first day to the end of the last. Null when either is not a date. */
export function toDayRange(days: { first: string; last: string; timeZone: string }): Interval | null {
  const { timeZone } = days;
  try {
    const [first, last] = [Temporal.PlainDate.from(days.first), Temporal.PlainDate.from(days.last)];
    const end = last.add({ days: 1 });
    return { startMs: toInstantMs(first, "00:00", timeZone), endMs: toInstantMs(end, "00:00", timeZone) };
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

function toInstantMs(day: Temporal.PlainDate, clock: string, timeZone: string): number {
  return day.toZonedDateTime({ timeZone, plainTime: Temporal.PlainTime.from(clock) }).epochMilliseconds;
}
