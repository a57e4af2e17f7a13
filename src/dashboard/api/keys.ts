import { queryOptions } from "@tanstack/react-query";
import type { NewKey } from "#contract/app/keys.ts";
import { call } from "./app-calls.ts";

export const keysQuery = (organization: string) =>
  queryOptions({
    queryKey: [organization, "keys"],
    queryFn: ({ signal }) => call("listKeys", { organization, signal }),
  });

export const createKey = (organization: string, body: NewKey, idempotencyKey: string) =>
  call("createKey", { organization, body, idempotencyKey });

export const revokeKey = (organization: string, id: string) => call("revokeKey", { organization, params: { key: id } });
