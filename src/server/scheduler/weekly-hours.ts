import { MINUTE_MS } from "#contract/durations.ts";
import type { Interval } from "./intervals.ts";

/** Hours of one weekday, as a clock on the wall shows them. 1 is Monday, 7 Sunday. Closing at 00:00 is midnight after. */
export type WeeklyHours = { readonly weekday: number; readonly opens: string; readonly closes: string };

/**
 * When it is open, from the opening to the closing of each day that `from` to `to` touches. On the days when clocks change
 * a day's hours are as long as they really are; an opening that such a day skips is the first moment after.
 */
export function toOpenIntervals(
  hours: readonly WeeklyHours[],
  options: { timeZone: string; from: Date; to: Date },
): Interval[] {
  const lastDay = toLocalDay(options.to, options.timeZone);
  const open: Interval[] = [];
  // A day earlier, because hours may run past midnight in UTC.
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

/** Every `step` from each opening, as long as the whole duration fits before closing. */
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

function toInstantMs(day: Temporal.PlainDate, clock: string, timeZone: string): number {
  return day.toZonedDateTime({ timeZone, plainTime: Temporal.PlainTime.from(clock) }).epochMilliseconds;
}
