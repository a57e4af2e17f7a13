import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { MINUTE_MS } from "#contract/durations.ts";
import { call } from "./call.ts";

/** Either `days` up to today, or `from` and `to`; empty texts are left out. */
export type AnalyticsFilters = { days: string; from: string; to: string; widget: string };

const REFRESH_MS = MINUTE_MS;
/** While the first view is waited for. */
const FIRST_REFRESH_MS = 5_000;

/** While another window is read, the one before stays. */
export const analyticsQuery = (organization: string, filters: AnalyticsFilters) =>
  queryOptions({
    queryKey: [organization, "analytics", filters],
    queryFn: ({ signal }) => call("getAnalytics", { organization, signal, query: toAnalyticsParameters(filters) }),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) => (state.data?.dataSince === null ? FIRST_REFRESH_MS : REFRESH_MS),
  });

/** The server refuses `days` together with `from` or `to`. */
export function toAnalyticsParameters({ days, from, to, widget }: AnalyticsFilters): Record<string, string> {
  return from === "" && to === "" ? { days, widget } : { from, to, widget };
}
