import { useQuery } from "@tanstack/react-query";
import type { AppConnection } from "#contract/app/connections.ts";
import type { AppEndpoint } from "#contract/app/endpoints.ts";
import { endpointsQuery } from "../api/endpoints.ts";
import { connectionsQuery } from "../api/queries.ts";

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
