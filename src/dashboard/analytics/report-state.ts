import { COMPARISONS, MATCHES } from "#contract/app/analytics.ts";
import { WINDOW_DAYS_DEFAULT, WINDOW_DAYS_MAX } from "#contract/limits.ts";
import { addDays, toDay } from "../day-range.ts";
import { cleanFilters, FILTER_DEFAULTS, toFilterParameters } from "./filters/filter-state.ts";
import { toWindow } from "./period/periods.ts";

// What the address of the analytics screen says. Everything on the screen follows from it.

export const REPORT_DEFAULTS = {
  period: "",
  days: String(WINDOW_DAYS_DEFAULT),
  from: "",
  to: "",
  compare: "previous",
  compareFrom: "",
  compareTo: "",
  match: "weekday",
  /** The figure in the chart. */
  metric: "views",
  interval: "",
  split: "",
  /** The dimension whose whole list is open. */
  list: "",
  heat: "bookings",
  ...FILTER_DEFAULTS,
};

export type ReportState = typeof REPORT_DEFAULTS;
export type ChangeState = (change: Partial<ReportState>) => void;

/** Query parameters of a request; empty ones are left out. */
export type Parameters = Readonly<Record<string, string | readonly string[]>>;

/** Drops what the server would refuse: addresses are edited, cut and passed on. `today` is in the organization's time zone. */
export function cleanState(state: ReportState, today: string): ReportState {
  const { from, to } = cleanRange({ from: state.from, to: state.to }, today);
  const compared = cleanRange({ from: state.compareFrom, to: state.compareTo });
  const isWhole = compared.from !== "" && compared.to !== "";
  const isKnown = COMPARISONS.some((each) => each === state.compare) && (state.compare !== "custom" || isWhole);
  return {
    ...state,
    ...cleanFilters(state),
    from,
    to,
    compare: isKnown ? state.compare : REPORT_DEFAULTS.compare,
    compareFrom: compared.from,
    compareTo: compared.to,
    match: MATCHES.some((each) => each === state.match) ? state.match : REPORT_DEFAULTS.match,
  };
}

/** Empty if the days are in the wrong order or begin in the future; the last 730 days if there are more. */
function cleanRange(range: { from: string; to: string }, today?: string): { from: string; to: string } {
  const [from, to] = [toDay(range.from) ?? "", toDay(range.to) ?? ""];
  const last = today !== undefined && (to === "" || to > today) ? today : to;
  if (from !== "" && last !== "" && from > last) return { from: "", to: "" };
  const first = last === "" ? "" : addDays(last, 1 - WINDOW_DAYS_MAX);
  return { from: from !== "" && from < first ? first : from, to };
}

export function toScope(state: ReportState): Parameters {
  return { ...toWindow(state), ...toFilterParameters(state) };
}

export function toComparison({ compare, compareFrom, compareTo, match }: ReportState): Parameters {
  return compare === "custom" ? { compare, compareFrom, compareTo } : { compare, match };
}
