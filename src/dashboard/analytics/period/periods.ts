import { WINDOW_DAYS_MAX } from "#contract/limits.ts";
import { toDayCount } from "../../day-range.ts";

// Periods of the analytics screen. The address has either a named period, a number of days, or two days.

export const NAMED_PERIODS = ["today", "yesterday", "month", "last-month", "year", "12-months", "all"] as const;
export type NamedPeriod = (typeof NAMED_PERIODS)[number];

export type ChosenPeriod = { period: string; days: string; from: string; to: string };
type DayWindow = { days: string } | { from: string; to: string };

/** In the order of the menu. */
export const PRESETS: readonly { label: string; chosen: ChosenPeriod }[] = [
  { label: "Today", chosen: named("today") },
  { label: "Yesterday", chosen: named("yesterday") },
  { label: "Last 7 days", chosen: lastDays("7") },
  { label: "Last 30 days", chosen: lastDays("30") },
  { label: "Last 90 days", chosen: lastDays("90") },
  { label: "This month", chosen: named("month") },
  { label: "Last month", chosen: named("last-month") },
  { label: "This year", chosen: named("year") },
  { label: "Last 12 months", chosen: named("12-months") },
  { label: "All time", chosen: named("all") },
];

/** The days to ask the server for. An unknown name counts as none. */
export function toWindow({ period, days, from, to }: ChosenPeriod, today: string): DayWindow {
  if (from !== "" || to !== "") return { from, to };
  switch (NAMED_PERIODS.find((each) => each === period)) {
    case undefined:
      return { days: toDayCount(days) };
    case "today":
      return { from: today, to: today };
    case "yesterday":
      return { from: shift(today, { days: -1 }), to: shift(today, { days: -1 }) };
    case "month":
      return { from: `${today.slice(0, 8)}01`, to: today };
    case "last-month": {
      const last = shift(`${today.slice(0, 8)}01`, { days: -1 });
      return { from: `${last.slice(0, 8)}01`, to: last };
    }
    case "year":
      return { from: `${today.slice(0, 5)}01-01`, to: today };
    case "12-months":
      return { from: shift(shift(today, { months: -12 }), { days: 1 }), to: today };
    case "all":
      return { days: String(WINDOW_DAYS_MAX) };
  }
}

export function isSamePeriod(a: ChosenPeriod, b: ChosenPeriod): boolean {
  return a.period === b.period && a.from === b.from && a.to === b.to && (a.period !== "" || a.days === b.days);
}

function named(period: NamedPeriod): ChosenPeriod {
  return { period, days: "30", from: "", to: "" };
}

function lastDays(days: string): ChosenPeriod {
  return { period: "", days, from: "", to: "" };
}

/** 31 March less a month is 28 February. */
function shift(day: string, by: { days?: number; months?: number }): string {
  const [year = 0, month = 1, date = 1] = day.split("-").map(Number);
  const firstOfMonth = new Date(Date.UTC(year, month - 1 + (by.months ?? 0), 1));
  const length = new Date(Date.UTC(firstOfMonth.getUTCFullYear(), firstOfMonth.getUTCMonth() + 1, 0)).getUTCDate();
  firstOfMonth.setUTCDate(Math.min(date, length) + (by.days ?? 0));
  return firstOfMonth.toISOString().slice(0, "YYYY-MM-DD".length);
}
