import dayjs from "dayjs";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "#contract/durations.ts";

// How instants, days, counts and rates are written. Instants are told in the organization's time zone; the language is the
// browser's.

export type Format = ReturnType<typeof formatIn>;

const STEPS = [
  ["year", 365 * DAY_MS],
  ["month", 30 * DAY_MS],
  ["week", 7 * DAY_MS],
  ["day", DAY_MS],
  ["hour", HOUR_MS],
  ["minute", MINUTE_MS],
] as const;

export function formatIn(timeZone: string) {
  const instant = (options: Intl.DateTimeFormatOptions) => {
    const format = new Intl.DateTimeFormat(undefined, { timeZone, ...options });
    return (timestamp: string) => format.format(new Date(timestamp));
  };
  return {
    timeZone,
    /** 1 Nov 2026, 13:00 */
    dateTime: instant({ dateStyle: "medium", timeStyle: "short" }),
    /** With seconds and the zone, for what is looked into closely. */
    exact: instant({ ...PARTS, second: "2-digit", timeZoneName: "short" }),
    date: instant({ dateStyle: "medium" }),
    time: instant({ timeStyle: "short" }),
    /** The first retries are less than a minute apart. */
    timeToSecond: instant({ timeStyle: "medium" }),
  };
}

const PARTS = { year: "numeric", month: "short", day: "numeric", hour: "2-digit", minute: "2-digit" } as const;

const dayFormat = new Intl.DateTimeFormat(undefined, { timeZone: "UTC", dateStyle: "medium" });
const shortDayFormat = new Intl.DateTimeFormat(undefined, { timeZone: "UTC", day: "numeric", month: "short" });
const countFormat = new Intl.NumberFormat();
/** Always with one digit after the point, so that rates in a column line up. */
const rateFormat = new Intl.NumberFormat(undefined, {
  style: "percent",
  minimumFractionDigits: 1,
  maximumFractionDigits: 1,
});
const relativeFormat = new Intl.RelativeTimeFormat(undefined, { numeric: "auto" });

/** A calendar day such as 2026-11-01, which has no time zone. */
export function formatDay(day: string): string {
  return dayFormat.format(new Date(day));
}

/** Without the year, for axes. */
export function formatShortDay(day: string): string {
  return shortDayFormat.format(new Date(day));
}

export function formatCount(count: number): string {
  return countFormat.format(count);
}

/** 0.0731 becomes 7.3%. */
export function formatRate(rate: number): string {
  return rateFormat.format(rate);
}

/** "3 minutes ago", "in 2 days". */
export function formatRelative(timestamp: string): string {
  const ahead = new Date(timestamp).getTime() - dayjs().valueOf();
  const step = STEPS.find(([, ms]) => Math.abs(ahead) >= ms);
  if (!step) return ahead > 0 ? "in a moment" : "just now";
  const count = ahead / step[1];
  // What ends in seven days still does a moment later.
  return relativeFormat.format(ahead > 0 ? Math.round(count) : Math.trunc(count), step[0]);
}

/** 1 booking, 2 bookings. */
export function pluralize(count: number, one: string, many = `${one}s`): string {
  return `${formatCount(count)} ${count === 1 ? one : many}`;
}
