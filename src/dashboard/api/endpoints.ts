import { queryOptions } from "@tanstack/react-query";
import { call } from "./call.ts";
import { deliveriesKey } from "./deliveries.ts";

/** Their health changes by itself. */
const REFRESHED_EVERY_MS = 15_000;

export const endpointsQuery = (organization: string) =>
  queryOptions({
    queryKey: [organization, "endpoints"],
    queryFn: ({ signal }) => call("listEndpoints", { organization, signal }),
    refetchInterval: REFRESHED_EVERY_MS,
  });

/** What is read anew after something was done with an endpoint: it may have canceled or made deliveries. */
export const endpointRefreshes = (organization: string) => [
  endpointsQuery(organization).queryKey,
  deliveriesKey(organization),
];
