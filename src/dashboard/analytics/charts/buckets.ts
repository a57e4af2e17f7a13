import type { AppAnalytics } from "#contract/app/analytics.ts";
import type { DayOfWeek } from "../../first-day-of-week.ts";

// The chart's points: hours, days, weeks or months, and round numbers for its axis.

export type Interval = "hour" | "day" | "week" | "month";

type Daily = AppAnalytics["daily"];
type Hourly = AppAnalytics["hourly"];

/**
 * `start` is a day, or an hour such as 2026-11-01T13. Without counts: still to come, or before the first data. `isPartial`: it isn't over
 * yet, or the period has only some of its days.
 */
export type Bucket = { start: string; views?: number; bookings?: number; isPartial?: true };

const LONGEST_MONTH = 31;

/** The intervals that suit this number of days; the first one is the default. */
export function listIntervals(days: number, hasHours: boolean): Interval[] {
  if (hasHours) return days === 1 ? ["hour"] : ["hour", "day"];
  if (days <= LONGEST_MONTH) return days > 13 ? ["day", "week"] : ["day"];
  return days > 200 ? ["week", "day", "month"] : ["day", "week", "month"];
}

type Counts = { daily: Daily; hourly: Hourly; dataSince: string | null; now: string };

export function toBuckets(counts: Counts, interval: Interval, firstDayOfWeek: DayOfWeek): Bucket[] {
  const { daily, hourly, dataSince, now } = counts;
  if (interval === "hour") return daily.flatMap(({ day }) => toHours(day, hourly ?? [], now));
  // Days before the first data are left empty: zero would mean no visitors.
  const days: Bucket[] = daily.map((entry) =>
    dataSince !== null && entry.day < dataSince
      ? { start: entry.day }
      : { start: entry.day, views: entry.views, bookings: entry.bookings, ...markPartial(now.startsWith(entry.day)) },
  );
  if (interval === "day") return days;
  const groups = new Map<string, Bucket[]>();
  for (const bucket of days) {
    const start =
      interval === "week" ? toWeekStart(bucket.start, firstDayOfWeek) : `${bucket.start.slice(0, "YYYY-MM-".length)}01`;
    groups.set(start, [...(groups.get(start) ?? []), bucket]);
  }
  return [...groups].map(([start, parts]) => {
    const days = interval === "week" ? 7 : countDaysOfMonth(start);
    return addUp(start, parts, parts.length < days || parts.some(({ isPartial }) => isPartial));
  });
}

function markPartial(isPartial: boolean): { isPartial?: true } {
  return isPartial ? { isPartial } : {};
}

function countDaysOfMonth(firstDay: string): number {
  const date = new Date(firstDay);
  return new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate();
}

function toHours(day: string, hourly: NonNullable<Hourly>, now: string): Bucket[] {
  return Array.from({ length: 24 }, (_, hour) => {
    const start = `${day}T${String(hour).padStart(2, "0")}`;
    if (start > now) return { start };
    const { views = 0, bookings = 0 } = hourly.find((entry) => entry.hour === start) ?? {};
    return { start, views, bookings, ...markPartial(now.startsWith(start)) };
  });
}

function addUp(start: string, parts: readonly Bucket[], isPartial: boolean): Bucket {
  const counted = parts.filter(({ views }) => views !== undefined);
  if (counted.length === 0) return { start };
  const sum = (name: "views" | "bookings") => counted.reduce((total, part) => total + (part[name] ?? 0), 0);
  return { start, views: sum("views"), bookings: sum("bookings"), ...markPartial(isPartial) };
}

function toWeekStart(day: string, firstDayOfWeek: DayOfWeek): string {
  const date = new Date(day);
  date.setUTCDate(date.getUTCDate() - ((date.getUTCDay() - firstDayOfWeek + 7) % 7));
  return date.toISOString().slice(0, "YYYY-MM-DD".length);
}

const TICKS = 4;

/** From 0 to at least `most`, in equal steps of 1, 2 or 5 times a power of ten. */
export function toRoundTicks(most: number): number[] {
  if (most <= 0) return [0, 1];
  const rough = most / TICKS;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = Math.max(1, ([1, 2, 5, 10].find((factor) => factor * power >= rough) ?? 10) * power);
  return Array.from({ length: Math.ceil(most / step) + 1 }, (_, i) => i * step);
}
