import { queryOptions } from "@tanstack/react-query";
import { call } from "./call.ts";

export const connectionsQuery = (organization: string) =>
  queryOptions({
    queryKey: [organization, "connections"],
    queryFn: ({ signal }) => call("listConnections", { organization, signal }),
  });
