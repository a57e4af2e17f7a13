import { queryOptions } from "@tanstack/react-query";
import type { EndpointChange, NewEndpoint, RedeliverFailedRequest } from "#contract/app/endpoints.ts";
import { call } from "./app-calls.ts";
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

/** What an organization does with its endpoints. */
export const endpointCalls = (organization: string) => ({
  add: (body: NewEndpoint, idempotencyKey: string) => call("addEndpoint", { organization, body, idempotencyKey }),
  change: ({ id, ...body }: EndpointChange & { id: string }) =>
    call("changeEndpoint", { organization, params: { endpoint: id }, body }),
  remove: (id: string) => call("removeEndpoint", { organization, params: { endpoint: id } }),
  test: (id: string) => call("testEndpoint", { organization, params: { endpoint: id } }),
  rotateSecret: (id: string) => call("rotateSecret", { organization, params: { endpoint: id } }),
  redeliverFailed: ({ id, ...body }: { id: string } & RedeliverFailedRequest) =>
    call("redeliverFailed", { organization, params: { endpoint: id }, body }),
});
