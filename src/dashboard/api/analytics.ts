import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { MINUTE_MS } from "#contract/durations.ts";
import { call } from "./call.ts";

/** Either the last `days` days, or `from` and `to`. Empty strings are left out of the request. */
export type AnalyticsFilters = { days: string; from: string; to: string; widget: string };

const REFRESH_MS = MINUTE_MS;
/** While waiting for the first view. */
const FIRST_REFRESH_MS = 5_000;

/** The previous period stays on screen while another one loads. */
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
