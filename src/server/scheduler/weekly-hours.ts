import { MINUTE_MS } from "#contract/durations.ts";
import { findFirst } from "../lib/find-first.ts";

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

// Stretches of time in milliseconds since 1970, the end excluded. A merged list is sorted and its intervals don't touch.

export type Interval = { readonly startMs: number; readonly endMs: number };

/** Sorted, with touching and overlapping intervals joined. */
export function merge(intervals: readonly Interval[]): Interval[] {
  const merged: Interval[] = [];
  for (const interval of intervals.toSorted((a, b) => a.startMs - b.startMs)) {
    if (interval.endMs <= interval.startMs) continue;
    const last = merged.at(-1);
    if (last === undefined || interval.startMs > last.endMs) merged.push(interval);
    else merged[merged.length - 1] = { startMs: last.startMs, endMs: Math.max(last.endMs, interval.endMs) };
  }
  return merged;
}

/** The rest of `from` outside `taken`, merged. */
export function subtract(from: readonly Interval[], taken: readonly Interval[]): Interval[] {
  const gaps = merge(taken);
  return merge(from).flatMap((interval) => {
    const left: Interval[] = [];
    let startMs = interval.startMs;
    for (const gap of listOverlapping(gaps, interval)) {
      if (gap.startMs > startMs) left.push({ startMs, endMs: gap.startMs });
      startMs = gap.endMs;
    }
    if (startMs < interval.endMs) left.push({ startMs, endMs: interval.endMs });
    return left;
  });
}

/** The parts of each interval that lie within `others`; adjacent intervals stay separate. */
export function intersect(intervals: readonly Interval[], others: readonly Interval[]): Interval[] {
  const merged = merge(others);
  return intervals.flatMap((interval) =>
    listOverlapping(merged, interval).map(({ startMs, endMs }) => ({
      startMs: Math.max(startMs, interval.startMs),
      endMs: Math.min(endMs, interval.endMs),
    })),
  );
}

/** Whether one of the merged intervals contains all of `interval`. */
export function covers(merged: readonly Interval[], interval: Interval): boolean {
  const first = merged[findFirst(merged, ({ endMs }) => endMs > interval.startMs)];
  return first !== undefined && first.startMs <= interval.startMs && interval.endMs <= first.endMs;
}

/** The merged intervals that share a moment with this one. A list from a system can be long, so it is not scanned. */
function listOverlapping(merged: readonly Interval[], { startMs, endMs }: Interval): Interval[] {
  const overlapping: Interval[] = [];
  for (let index = findFirst(merged, (interval) => interval.endMs > startMs); index < merged.length; index++) {
    const other = merged[index];
    if (other === undefined || other.startMs >= endMs) break;
    overlapping.push(other);
  }
  return overlapping;
}
