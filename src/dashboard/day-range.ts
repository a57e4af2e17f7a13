import dayjs from "dayjs";
import { DAY_MS } from "#contract/durations.ts";
import { WINDOW_DAYS_DEFAULT, WINDOW_DAYS_MAX } from "#contract/limits.ts";
import { formatDay } from "./format.ts";
import { toInstant } from "./zoned-time.ts";

// Days that come from query parameters, which anyone can edit.

/** Returns the text if it is a day such as 2026-11-01, else null, as for 31 February. */
export function toDay(text: string): string | null {
  return /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text)) && addDays(text, 0) === text ? text : null;
}

export function addDays(day: string, count: number): string {
  return new Date(Date.parse(day) + count * DAY_MS).toISOString().slice(0, "YYYY-MM-DD".length);
}

/** From the start of the first day to the end of the last one, which the server excludes; empty without a day. */
export function toInstants({ from, to }: { from: string; to: string }, timeZone: string): { from: string; to: string } {
  const [first, last] = [toDay(from), toDay(to)];
  const dayAfter = last === null ? "" : dayjs(last).add(1, "day").format("YYYY-MM-DD");
  return { from: toInstant(first ?? "", timeZone) ?? "", to: toInstant(dayAfter, timeZone) ?? "" };
}

/** Clamps a number of days to the allowed range; anything else becomes the default of 30. */
export function toDayCount(text: string): string {
  const count = /^\d+$/.test(text) ? Number(text) : WINDOW_DAYS_DEFAULT;
  return String(Math.min(Math.max(count, 1), WINDOW_DAYS_MAX));
}

/** "3 Oct 2026 – 1 Nov 2026" or "Since 3 Oct 2026"; empty if neither is a day. */
export function describeDayRange(from: string, to: string): string {
  const [first, last] = [toDay(from), toDay(to)];
  if (first === null) return last === null ? "" : `Until ${formatDay(last)}`;
  if (last === null) return `Since ${formatDay(first)}`;
  return first === last ? formatDay(first) : `${formatDay(first)} – ${formatDay(last)}`;
}
