import { WINDOW_DAYS_DEFAULT, WINDOW_DAYS_MAX } from "#contract/limits.ts";
import { badParameter, type Query, readParameter, readWindowDays } from "../http/parameters.ts";
import { addDays, countDays } from "../lib/calendar.ts";

/** Calendar days, both included. */
export type DayWindow = { from: string; to: string; days: number };

/** `days` up to today, or `from` and `to`, but not both. Future days are left out. */
export function readDayWindow(query: Query, today: string): DayWindow {
  const [from, to] = [readDay(query, "from"), readDay(query, "to")];
  if (from === null && to === null) return lastDays(today, readWindowDays(query, "days"));
  if (readParameter(query, "days") !== null) throw badParameter("days", "cannot be sent together with from or to");
  const last = to === null || to > today ? today : to;
  const first = from ?? lastDays(last, WINDOW_DAYS_DEFAULT).from;
  const days = countDays(first, last) + 1;
  if (days < 1) throw badParameter("from", "must not be after to, or after today");
  if (days > WINDOW_DAYS_MAX) throw badParameter("from", `must not be more than ${WINDOW_DAYS_MAX} days before to`);
  return { from: first, to: last, days };
}

/** The same number of days immediately before. */
export function previousWindow({ from, days }: DayWindow): DayWindow {
  return lastDays(addDays(from, -1), days);
}

function lastDays(to: string, days: number): DayWindow {
  return { from: addDays(to, 1 - days), to, days };
}

function readDay(query: Query, name: string): string | null {
  const text = readParameter(query, name);
  if (text === null) return null;
  const isDay = /^(19[7-9]|[2-9]\d\d)\d-\d\d-\d\d$/.test(text) && addDays(text, 0) === text;
  if (!isDay) throw badParameter(name, "must be a day, for example 2026-11-01");
  return text;
}
