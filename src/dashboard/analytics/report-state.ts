import { WINDOW_DAYS_DEFAULT } from "#contract/limits.ts";
import { FILTER_DEFAULTS, toFilterParameters } from "./filters/filter-state.ts";
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

/** Which days and visits. */
export function toScope(state: ReportState): Parameters {
  return { ...toWindow(state), ...toFilterParameters(state) };
}

export function toComparison({ compare, compareFrom, compareTo }: ReportState): Parameters {
  return compare === "custom" ? { compare, compareFrom, compareTo } : { compare };
}
