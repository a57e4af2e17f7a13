import { useQuery } from "@tanstack/react-query";
import type { AppConnection } from "#contract/app/connections.ts";
import type { AppEndpoint } from "#contract/app/endpoints.ts";
import { connectionsQuery, endpointsQuery } from "../api/queries.ts";

/** Endpoints and connections that don't work. Endpoints that a member turned off don't count. */
export function useAlerts(
  organization: string,
  seesConnections: boolean,
): { endpoints: AppEndpoint[]; connections: AppConnection[] } {
  const endpoints = useQuery(endpointsQuery(organization));
  const connections = useQuery({ ...connectionsQuery(organization), enabled: seesConnections });
  return {
    endpoints: (endpoints.data?.data ?? []).filter(
      ({ health, disabledReason }) =>
        health.condition === "failing" || disabledReason === "failing" || disabledReason === "gone",
    ),
    connections: (connections.data?.data ?? []).filter(({ isHealthy }) => !isHealthy),
  };
}

/** What stands before and after the name, which is a link. */
export type AroundName = readonly [before: string, after: string];

/** For endpoints that fail or that Bookflow turned off; those that a member turned off are no problem. */
export function describeEndpointProblem({ disabledReason }: Pick<AppEndpoint, "disabledReason">): AroundName {
  return disabledReason === null ? ["Deliveries to ", " are failing."] : ["Bookflow turned off ", "."];
}

export function describeConnectionProblem({ widgetCount }: Pick<AppConnection, "widgetCount">): AroundName {
  return ["", widgetCount === 0 ? " isn’t working." : " isn’t working. Visitors may not be able to book."];
}
