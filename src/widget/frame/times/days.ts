import { DAY_MS } from "#contract/durations.ts";
import type { FreeSlot } from "#contract/widgets/embed-api.ts";

// Calendar days in a time zone, using only Intl. A day is `2026-11-03` and a month `2026-11`: they have no zone,
// compare as strings, and cannot slip to the day before.

export type Day = string;
export type Month = string;

const dayFormats = new Map<string, Intl.DateTimeFormat>();
const clockFormats = new Map<string, Intl.DateTimeFormat>();

export function toDay(atMs: number, timeZone: string): Day {
  // The Swedish format is yyyy-mm-dd.
  const format = kept(dayFormats, timeZone, () => new Intl.DateTimeFormat("sv-SE", { timeZone, dateStyle: "short" }));
  return format.format(atMs);
}

/** The instant at which the day begins in the zone. Where clocks skip midnight, the first instant after it. */
export function toStartMs(day: Day, timeZone: string): number {
  const asUtcMs = toUtcMs(day);
  const firstMs = asUtcMs - toOffsetMs(asUtcMs, timeZone);
  const secondMs = asUtcMs - toOffsetMs(firstMs, timeZone);
  return toDay(secondMs, timeZone) === day ? secondMs : firstMs;
}

export function toHour(atMs: number, timeZone: string): number {
  return new Date(atMs + toOffsetMs(atMs, timeZone)).getUTCHours();
}

export function addDays(day: Day, count: number): Day {
  return new Date(toUtcMs(day) + count * DAY_MS).toISOString().slice(0, 10);
}

/** The same day in another month, or that month's last day. */
export function addMonths(day: Day, count: number): Day {
  const month = shiftMonth(toMonth(day), count);
  const last = toLastDay(month);
  const same = `${month}-${day.slice(8)}`;
  return same > last ? last : same;
}

export function toMonth(day: Day): Month {
  return day.slice(0, 7);
}

export function shiftMonth(month: Month, count: number): Month {
  const [year = 0, number = 1] = month.split("-").map(Number);
  return new Date(Date.UTC(year, number - 1 + count, 1)).toISOString().slice(0, 7);
}

export function toLastDay(month: Month): Day {
  return addDays(`${shiftMonth(month, 1)}-01`, -1);
}

/** 1 for Monday to 7 for Sunday. */
export function toWeekday(day: Day): number {
  return new Date(toUtcMs(day)).getUTCDay() || 7;
}

/** The weeks of a month as a calendar shows them, including days of the neighbouring months. */
export function toWeeks(month: Month, firstWeekday: number): Day[][] {
  const first: Day = `${month}-01`;
  const last = toLastDay(month);
  const lead = (toWeekday(first) - firstWeekday + 7) % 7;
  const weeks: Day[][] = [];
  for (let start = addDays(first, -lead); start <= last; start = addDays(start, 7))
    weeks.push(Array.from({ length: 7 }, (_, index) => addDays(start, index)));
  return weeks;
}

export function groupByDay(slots: readonly FreeSlot[], timeZone: string): Map<Day, FreeSlot[]> {
  const days = new Map<Day, FreeSlot[]>();
  for (const slot of slots) {
    const day = toDay(Date.parse(slot.start), timeZone);
    const known = days.get(day);
    if (known) known.push(slot);
    else days.set(day, [slot]);
  }
  return days;
}

export function toUtcMs(day: Day): number {
  return Date.parse(`${day}T00:00:00.000Z`);
}

function toOffsetMs(atMs: number, timeZone: string): number {
  const format = kept(
    clockFormats,
    timeZone,
    () => new Intl.DateTimeFormat("sv-SE", { timeZone, dateStyle: "short", timeStyle: "medium" }),
  );
  const shownMs = Date.parse(`${format.format(atMs).replace(" ", "T")}.000Z`);
  return shownMs - Math.floor(atMs / 1_000) * 1_000;
}

/** Cached, because creating a format takes a hundred times as long as using it. */
function kept<T>(known: Map<string, T>, key: string, make: () => T): T {
  const value = known.get(key) ?? make();
  known.set(key, value);
  return value;
}
