import { queryOptions } from "@tanstack/react-query";
import { call } from "./call.ts";
import { deliveriesKey } from "./deliveries.ts";

/** Endpoints' health changes without anyone editing them. */
const REFRESH_MS = 15_000;

export const endpointsQuery = (organization: string) =>
  queryOptions({
    queryKey: [organization, "endpoints"],
    queryFn: ({ signal }) => call("listEndpoints", { organization, signal }),
    refetchInterval: REFRESH_MS,
  });

export const statisticsQuery = (organization: string, endpoint: string, period: string) =>
  queryOptions({
    queryKey: [organization, "endpoints", endpoint, period],
    queryFn: ({ signal }) => call("getStatistics", { organization, params: { endpoint }, query: { period }, signal }),
    refetchInterval: REFRESH_MS,
  });

/** Queries to refresh after an endpoint changed; that can also create or cancel deliveries. */
export const endpointRefreshes = (organization: string) => [
  endpointsQuery(organization).queryKey,
  deliveriesKey(organization),
];
