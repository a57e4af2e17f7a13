import dayjs from "dayjs";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "#contract/durations.ts";

// Formats of instants, days, counts and rates: in the reader's locale, with times in the organization's time zone. Words such
// as "3 minutes ago" are English like the rest of the dashboard.

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
    /** With seconds and the time zone, for tooltips and logs. */
    exact: instant({ ...PARTS, second: "2-digit", timeZoneName: "short" }),
    date: instant({ dateStyle: "medium" }),
    /** Without the year, for axes. */
    shortDate: instant(SHORT_DAY),
    shortDateTime: instant({ ...SHORT_DAY, hour: "2-digit", minute: "2-digit" }),
    time: instant({ timeStyle: "short" }),
    /** With seconds: the first retries are less than a minute apart. */
    timeToSecond: instant({ timeStyle: "medium" }),
  };
}

const SHORT_DAY = { day: "numeric", month: "short" } as const;
const PARTS = { year: "numeric", month: "short", day: "numeric", hour: "numeric", minute: "2-digit" } as const;

const dayFormat = new Intl.DateTimeFormat(undefined, { timeZone: "UTC", dateStyle: "medium" });
const shortDayFormat = new Intl.DateTimeFormat(undefined, { timeZone: "UTC", ...SHORT_DAY });
const countFormat = new Intl.NumberFormat();
/** Always one decimal, so that rates in a column line up. */
const rateFormat = new Intl.NumberFormat(undefined, {
  style: "percent",
  minimumFractionDigits: 1,
  maximumFractionDigits: 1,
});
/** Never "yesterday": a day is 24 hours here. */
const relativeFormat = new Intl.RelativeTimeFormat("en", { numeric: "always" });

/** America/New_York as people write it. */
export function formatZone(timeZone: string): string {
  return timeZone.replaceAll("_", " ");
}

/** Formats a calendar day such as 2026-11-01, which has no time zone. */
export function formatDay(day: string): string {
  return dayFormat.format(new Date(day));
}

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
  // Rounded up towards the future: "in 7 days" must not turn into "in 6 days" a second later.
  return relativeFormat.format(ahead > 0 ? Math.round(count) : Math.trunc(count), step[0]);
}

export function pluralize(count: number, one: string, many = `${one}s`): string {
  return `${formatCount(count)} ${count === 1 ? one : many}`;
}

const segmenter = new Intl.Segmenter();

/** By grapheme: an emoji or a letter with combining accents stays whole. */
const firstOf = (text: string, count: number) =>
  Array.from(segmenter.segment(text), ({ segment }) => segment)
    .slice(0, count)
    .join("");

/** The first letters of the first two words, or the first two letters of a single word. */
export function toInitials(name: string): string {
  const [first = "", second] = name.trim().split(/\s+/);
  return (second === undefined ? firstOf(first, 2) : firstOf(first, 1) + firstOf(second, 1)).toUpperCase();
}
