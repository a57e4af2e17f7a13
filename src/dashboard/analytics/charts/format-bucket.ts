import { DAY_MS } from "#contract/durations.ts";
import { formatDay, formatShortDay } from "../../format.ts";
import type { Interval } from "./buckets.ts";

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
