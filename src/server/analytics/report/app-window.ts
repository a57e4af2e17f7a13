import { COMPARISONS, type Comparison, MATCHES, PERIODS, type Period } from "#contract/app/analytics.ts";
import { WINDOW_DAYS_DEFAULT, WINDOW_DAYS_MAX } from "#contract/limits.ts";
import { badParameter, type Query, readChoice, readParameter, readWindowDays } from "../../http/parameters.ts";
import { addDays, countDaysBetween } from "../../lib/time/calendar.ts";

/** Calendar days, both included. */
export type DayWindow = { from: string; to: string; days: number };

/** What a window depends on besides the query. */
export type Today = {
  today: string;
  /** The first day with data; null before the first view. */
  findDataSince: () => Promise<string | null>;
};

/** A period by its name, as the dashboard sends it, or what readDayWindow takes. */
export async function readPeriod(query: Query, { today, findDataSince }: Today): Promise<DayWindow> {
  const period = readChoice(query, "period", PERIODS);
  if (period === null) return readDayWindow(query, { today });
  if (period === "all") return toWholeWindow(today, await findDataSince());
  const [from, to] = toDays(period, Temporal.PlainDate.from(today)).map(String) as [string, string];
  return { from, to, days: countDaysBetween(from, to) + 1 };
}

function toWholeWindow(today: string, dataSince: string | null): DayWindow {
  const longest = lastDays(today, WINDOW_DAYS_MAX);
  if (dataSince !== null && dataSince < longest.from) return longest;
  // Another process, whose clock is ahead, may have recorded a view of tomorrow.
  const from = dataSince === null || dataSince > today ? today : dataSince;
  return { from, to: today, days: countDaysBetween(from, today) + 1 };
}

function toDays(period: Exclude<Period, "all">, today: Temporal.PlainDate): [Temporal.PlainDate, Temporal.PlainDate] {
  const yesterday = today.subtract({ days: 1 });
  const lastMonth = today.subtract({ months: 1 });
  switch (period) {
    case "today":
      return [today, today];
    case "yesterday":
      return [yesterday, yesterday];
    case "month":
      return [today.with({ day: 1 }), today];
    case "last-month":
      return [lastMonth.with({ day: 1 }), lastMonth.with({ day: lastMonth.daysInMonth })];
    case "year":
      return [today.with({ month: 1, day: 1 }), today];
    case "12-months":
      return [today.subtract({ months: 12 }).add({ days: 1 }), today];
    default:
      return period satisfies never;
  }
}

/** `days` up to today, or `from` and `to`, but not both. Future days are left out. */
export function readDayWindow(query: Query, { today }: Pick<Today, "today">): DayWindow {
  const [from, to] = [readDay(query, "from"), readDay(query, "to")];
  if (from === null && to === null) return lastDays(today, readWindowDays(query, "days"));
  if (readParameter(query, "days") !== null) throw badParameter("days", "can't be sent together with from or to");
  const last = to === null || to > today ? today : to;
  const first = from ?? lastDays(last, WINDOW_DAYS_DEFAULT).from;
  const days = countDaysBetween(first, last) + 1;
  if (days < 1) throw badParameter("from", "must not be after to, or after today");
  if (days > WINDOW_DAYS_MAX)
    throw badParameter("from", `is too early: the period can have at most ${WINDOW_DAYS_MAX} days`);
  return { from: first, to: last, days };
}

/** The window that another one is compared with; null if `compare` is none. */
export function readComparison(query: Query, window: DayWindow): DayWindow | null {
  return toComparison(readChoice(query, "compare", COMPARISONS) ?? "previous", { query, window });
}

/** A year in whole weeks. */
const YEAR_OF_WEEKS_DAYS = 364;

function toComparison(
  comparison: Comparison,
  { query, window }: { query: Query; window: DayWindow },
): DayWindow | null {
  const isByWeekday = (readChoice(query, "match", MATCHES) ?? "weekday") === "weekday";
  const period = readChoice(query, "period", PERIODS);
  const calendarStep = period && CALENDAR_STEPS[period];
  switch (comparison) {
    case "previous":
      if (calendarStep) return calendarBefore(window, calendarStep);
      return daysBefore(window, isByWeekday ? Math.ceil(window.days / 7) * 7 : window.days);
    case "year":
      if (isByWeekday && !calendarStep) return daysBefore(window, YEAR_OF_WEEKS_DAYS);
      return calendarBefore(window, { years: 1 });
    case "custom": {
      const [from, to] = [readDay(query, "compareFrom"), readDay(query, "compareTo")];
      if (from === null || to === null)
        throw badParameter("compare", "needs compareFrom and compareTo if it is custom");
      const days = countDaysBetween(from, to) + 1;
      if (days < 1) throw badParameter("compareFrom", "must not be after compareTo");
      if (days > WINDOW_DAYS_MAX)
        throw badParameter("compareFrom", `is too early: the period can have at most ${WINDOW_DAYS_MAX} days`);
      return { from, to, days };
    }
    case "none":
      return null;
    default:
      return comparison satisfies never;
  }
}

/** Months and years differ in length, so they are compared with the whole one before, or with as much of it. */
const CALENDAR_STEPS: Partial<Record<Period, { months: number } | { years: number }>> = {
  month: { months: 1 },
  "last-month": { months: 1 },
  year: { years: 1 },
  "12-months": { years: 1 },
};

/** A window that ends with its month also does so before: 30 April becomes 31 March, and 29 February 28 February. */
function calendarBefore(window: DayWindow, step: { months: number } | { years: number }): DayWindow {
  const last = Temporal.PlainDate.from(window.to);
  const shifted = last.subtract(step);
  const isWholeMonth = last.day === last.daysInMonth && window.from.endsWith("-01");
  const from = Temporal.PlainDate.from(window.from).subtract(step).toString();
  const to = (isWholeMonth ? shifted.with({ day: shifted.daysInMonth }) : shifted).toString();
  return { from, to, days: countDaysBetween(from, to) + 1 };
}

function daysBefore({ from, to, days }: DayWindow, shift: number): DayWindow {
  return { from: addDays(from, -shift), to: addDays(to, -shift), days };
}

export function lastDays(to: string, days: number): DayWindow {
  return { from: addDays(to, 1 - days), to, days };
}

function readDay(query: Query, name: string): string | null {
  const text = readParameter(query, name);
  if (text === null) return null;
  if (!isDay(text)) throw badParameter(name, "must be a day, for example 2026-11-01");
  return text;
}

export function isDay(text: string): boolean {
  return /^(19[7-9]|[2-9]\d\d)\d-\d\d-\d\d$/.test(text) && addDays(text, 0) === text;
}
