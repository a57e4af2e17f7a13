import { type AppAnalytics, HOURLY_DAYS_MAX } from "#contract/app/analytics.ts";
import { DAY_MS } from "#contract/durations.ts";
import { type DayOfWeek, describeDayRange, FIRST_DAY_OF_WEEK } from "../../days.ts";
import { formatCount, formatDay, formatShortDay, pluralize } from "../../format.ts";

// The chart's points: hours, days, weeks or months, and round numbers for its axis.

export const INTERVAL_NAMES = { hour: "Hour", day: "Day", week: "Week", month: "Month" } as const;
export type Interval = keyof typeof INTERVAL_NAMES;

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

// The times of the chart's points, in the reader's locale.

const monthFormat = new Intl.DateTimeFormat(undefined, { timeZone: "UTC", month: "long", year: "numeric" });
const shortMonthFormat = new Intl.DateTimeFormat(undefined, { timeZone: "UTC", month: "short", year: "2-digit" });
const hourFormat = new Intl.DateTimeFormat(undefined, { timeZone: "UTC", hour: "numeric", minute: "2-digit" });

type Axis = {
  interval: Interval;
  /** Days have a year only if the axis has several, and midnight is a day only if there are several. */
  hasYears: boolean;
  hasDays: boolean;
};

/** For the axis. */
export function formatTick(start: string, { interval, hasYears, hasDays }: Axis): string {
  if (interval === "hour") {
    const [day = "", hour] = start.split("T");
    return hasDays && hour === "00" ? formatShortDay(day) : formatHour(start);
  }
  if (interval === "month") return shortMonthFormat.format(new Date(start));
  return hasYears ? formatDay(start) : formatShortDay(start);
}

export function formatBucket(start: string, interval: Interval): string {
  switch (interval) {
    case "hour":
      return `${formatDay(start.slice(0, "YYYY-MM-DD".length))}, ${formatHour(start)}`;
    case "day":
      return formatDay(start);
    case "week":
      return `Week of ${formatDay(start)}`;
    case "month":
      return monthFormat.format(new Date(start));
  }
}

/** "13:00" for 2026-11-01T13. */
function formatHour(start: string): string {
  return hourFormat.format(new Date(`${start}:00Z`));
}

/** "13:00" for 13. */
export function formatHourOfDay(hour: number): string {
  return formatHour(`${MONDAY}T${String(hour).padStart(2, "0")}`);
}

/** Any Monday. */
const MONDAY = "2026-11-02";
const weekdayFormats = {
  long: new Intl.DateTimeFormat(undefined, { timeZone: "UTC", weekday: "long" }),
  short: new Intl.DateTimeFormat(undefined, { timeZone: "UTC", weekday: "short" }),
};

/** Monday is 0. */
export function formatWeekday(day: number, length: keyof typeof weekdayFormats = "long"): string {
  return weekdayFormats[length].format(new Date(Date.parse(MONDAY) + day * DAY_MS));
}

export type Earlier = {
  buckets: readonly Bucket[];
  label: string;
  /** Says what the chart leaves out; empty if it shows all of it. */
  note: string;
};

type Compared = Pick<AppAnalytics, "previous" | "dataSince">;

/** The chart has room for as many points as the period itself has. */
export function toEarlier({ previous, dataSince }: Compared, interval: Interval, points: number): Earlier {
  if (!previous?.isComplete) return { buckets: [], label: "", note: "" };
  const label = describeDayRange(previous.from, previous.to);
  if (interval === "hour" && previous.hourly === null)
    return {
      ...{ buckets: [], label },
      note: `The comparison isn’t shown by hour because it covers more than ${pluralize(HOURLY_DAYS_MAX, "day")}.`,
    };
  // A partial day ends at the same time of day, and so does its line.
  const now = previous.untilTime === null ? `${previous.to}T24` : `${previous.to}T${previous.untilTime}`;
  const buckets = toBuckets({ ...previous, dataSince, now }, interval, FIRST_DAY_OF_WEEK);
  if (buckets.length <= points) return { buckets, label, note: "" };
  const first = `first ${points === 1 ? interval : pluralize(points, interval)}`;
  return {
    buckets: buckets.slice(0, points),
    label: `${label} (${first})`,
    note: `The grey line shows the ${first} of ${label}.`,
  };
}

/** "412 views and 31 bookings. Most views on 4 Nov 2026 (38); most bookings on 6 Nov 2026 (5)." */
export function describeBuckets(buckets: readonly Bucket[], interval: Interval): string {
  const total = (name: "views" | "bookings") => buckets.reduce((sum, bucket) => sum + (bucket[name] ?? 0), 0);
  const [views, bookings] = [total("views"), total("bookings")];
  const counts = `${pluralize(views, "view")} and ${pluralize(bookings, "booking")}.`;
  const best = [
    views > 0 ? `most views${describeBest(buckets, "views", interval)}` : "",
    bookings > 0 ? `most bookings${describeBest(buckets, "bookings", interval)}` : "",
  ].filter(Boolean);
  const sentence = best.join("; ");
  return best.length === 0 ? counts : `${counts} ${sentence.charAt(0).toUpperCase()}${sentence.slice(1)}.`;
}

function describeBest(buckets: readonly Bucket[], name: "views" | "bookings", interval: Interval): string {
  const most = Math.max(...buckets.map((bucket) => bucket[name] ?? 0));
  const [best, ...others] = buckets.filter((bucket) => bucket[name] === most);
  const when = { hour: "on", day: "on", week: "in the", month: "in" }[interval];
  if (!best || others.length > 0) return `: ${pluralize(others.length + 1, interval)} with ${formatCount(most)} each`;
  return ` ${when} ${formatBucket(best.start, interval).replace("Week", "week")} (${formatCount(most)})`;
}
