import { useQuery } from "@tanstack/react-query";
import { connectionsQuery } from "../api/connections.ts";
import { endpointsQuery } from "../api/endpoints.ts";
import { nameOf } from "../webhooks/endpoint-words.ts";

type Alerting = { id: string; name: string };

/** Endpoints and connections that don't work. Endpoints that a member turned off don't count. */
export function useAlerts(
  organization: string,
  seesConnections: boolean,
): { endpoints: Alerting[]; connections: Alerting[] } {
  const endpoints = useQuery(endpointsQuery(organization));
  const connections = useQuery({ ...connectionsQuery(organization), enabled: seesConnections });
  return {
    endpoints: (endpoints.data?.data ?? [])
      .filter(
        ({ health, disabledReason }) =>
          health.condition === "failing" || disabledReason === "failing" || disabledReason === "gone",
      )
      .map((endpoint) => ({ id: endpoint.id, name: nameOf(endpoint) })),
    connections: (connections.data?.data ?? []).filter(({ isHealthy }) => !isHealthy),
  };
}
