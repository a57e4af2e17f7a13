import { queryOptions } from "@tanstack/react-query";
import type { ConnectionChange, NewConnection } from "#contract/app/connections.ts";
import { call } from "./app-calls.ts";

export const connectionsQuery = (organization: string) =>
  queryOptions({
    queryKey: [organization, "connections"],
    queryFn: ({ signal }) => call("listConnections", { organization, signal }),
  });

/** What an organization does with its connections. */
export const connectionCalls = (organization: string) => ({
  add: (body: NewConnection, idempotencyKey: string) => call("addConnection", { organization, body, idempotencyKey }),
  change: ({ id, ...body }: ConnectionChange & { id: string }) =>
    call("changeConnection", { organization, params: { connection: id }, body }),
  remove: (id: string) => call("removeConnection", { organization, params: { connection: id } }),
  test: (id: string) => call("testConnection", { organization, params: { connection: id } }),
});
