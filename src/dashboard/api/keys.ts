import { queryOptions } from "@tanstack/react-query";
import { call } from "./call.ts";

export const keysQuery = (organization: string) =>
  queryOptions({
    queryKey: [organization, "keys"],
    queryFn: ({ signal }) => call("listKeys", { organization, signal }),
  });
