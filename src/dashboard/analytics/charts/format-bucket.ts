import { formatDay, formatShortDay } from "../../format.ts";
import type { Interval } from "./buckets.ts";

// The times of the chart's points, in the reader's locale.

const monthFormat = new Intl.DateTimeFormat(undefined, { timeZone: "UTC", month: "long", year: "numeric" });
const shortMonthFormat = new Intl.DateTimeFormat(undefined, { timeZone: "UTC", month: "short", year: "2-digit" });
const hourFormat = new Intl.DateTimeFormat(undefined, { timeZone: "UTC", hour: "numeric", minute: "2-digit" });

/** For the axis. */
export function formatTick(start: string, interval: Interval): string {
  if (interval === "hour") return formatHour(start);
  return interval === "month" ? shortMonthFormat.format(new Date(start)) : formatShortDay(start);
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
export function formatHour(start: string): string {
  return hourFormat.format(new Date(`${start}:00Z`));
}
