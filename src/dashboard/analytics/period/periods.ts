import { PERIODS, type Period } from "#contract/app/analytics.ts";
import { describeDayRange, toDayCount } from "../../days.ts";

// Periods of the analytics screen. The address has either a named period, a number of days, or two days.

export type ChosenPeriod = { period: string; days: string; from: string; to: string };

/** In the order of the menu. */
export const PRESETS: readonly { label: string; chosen: ChosenPeriod }[] = [
  { label: "Today", chosen: named("today") },
  { label: "Yesterday", chosen: named("yesterday") },
  { label: "Last 7 days", chosen: lastDays(7) },
  { label: "Last 30 days", chosen: lastDays(30) },
  { label: "Last 90 days", chosen: lastDays(90) },
  { label: "This month", chosen: named("month") },
  { label: "Last month", chosen: named("last-month") },
  { label: "This year", chosen: named("year") },
  { label: "Last 12 months", chosen: named("12-months") },
  { label: "All time", chosen: named("all") },
];

/** The days to ask the server for, which knows today's date. An unknown name counts as none. */
export function toWindow({ period, days, from, to }: ChosenPeriod): Record<string, string> {
  if (from !== "" || to !== "") return { from, to };
  return PERIODS.some((each) => each === period) ? { period } : { days: toDayCount(days) };
}

export function isSamePeriod(a: ChosenPeriod, b: ChosenPeriod): boolean {
  const [first, second] = [toWindow(a), toWindow(b)];
  return ["period", "days", "from", "to"].every((name) => first[name] === second[name]);
}

export function describePeriod(value: ChosenPeriod): string {
  const preset = PRESETS.find(({ chosen }) => isSamePeriod(chosen, value));
  if (preset) return preset.label;
  const count = toDayCount(value.days);
  // The days include today.
  return describeDayRange(value.from, value.to) || (count === "1" ? "Today" : `Last ${count} days`);
}

function named(period: Period): ChosenPeriod {
  return { period, days: "30", from: "", to: "" };
}

function lastDays(days: number): ChosenPeriod {
  return { period: "", days: String(days), from: "", to: "" };
}
