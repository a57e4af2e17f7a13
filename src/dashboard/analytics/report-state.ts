import { COMPARISONS, MATCHES } from "#contract/app/analytics.ts";
import { WINDOW_DAYS_DEFAULT, WINDOW_DAYS_MAX } from "#contract/limits.ts";
import { addDays, toDay } from "../days.ts";
import {
  cleanFilters,
  FILTER_DEFAULTS,
  listFilters,
  parseFilterQuery,
  toFilterParameters,
} from "./filters/filter-state.ts";
import { toFilterName, toKeysText } from "./filters/filter-words.ts";
import { describePeriod, toWindow } from "./period/periods.ts";

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

/** Empty if the days are in the wrong order or begin in the future; shortened to the last days if there are too many. */
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

/** What a link to the report is made of. `days`: these, instead of a period that moves with the calendar. */
export function toReportQuery(state: ReportState, days: { from: string; to: string } | null): string {
  const window = days ? { from: days.from, to: days.to } : toWindow(state);
  const parameters = { ...window, ...toComparison(state), ...toFilterParameters(state) };
  const named = Object.entries(parameters).flatMap(([name, value]) => [value].flat().map((each) => [name, each]));
  return new URLSearchParams(named.filter(([, value]) => value !== "") as [string, string][]).toString();
}

/** "Last 30 days · Channel is Paid Search". */
export function describeReportQuery(query: string, widgetNames: ReadonlyMap<string, string>): string {
  const parameters = new URLSearchParams(query);
  const read = (name: "period" | "days" | "from" | "to") => parameters.get(name) ?? REPORT_DEFAULTS[name];
  const period = describePeriod({ period: read("period"), days: read("days"), from: read("from"), to: read("to") });
  const filters = listFilters(parseFilterQuery(query)).map(
    (filter) =>
      `${toFilterName(filter.dimension)} ${filter.isNegated ? "is not" : "is"} ${toKeysText(filter, widgetNames)}`,
  );
  return [period, ...filters].join(" · ");
}
