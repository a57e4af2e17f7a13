import type { FastifyRequest, RouteOptions } from "fastify";
import { API_PREFIX, READ_ROUTES } from "#contract/read-routes.ts";
import { KEY_SCOPES } from "#contract/scopes.ts";
import { assert } from "../lib/assert.ts";
import { callerOf, requireScope } from "./bearer-auth.ts";

/** Checks the key's scopes after the bearer guard, and describes them. A route that is not in the contract can't be mounted. */
export function guardReadRoute(route: RouteOptions): void {
  const listed = Object.values(READ_ROUTES).find(({ path }) => API_PREFIX + path === route.url);
  assert(listed, `${route.url} is listed in contract/read-routes.ts`);
  const { scopes, tag } = listed;
  const words = scopes === KEY_SCOPES ? "any scope" : `the scope ${scopes.map((scope) => `\`${scope}\``).join(" or ")}`;
  const description = [route.schema?.description, `The key needs ${words}.`].filter(Boolean).join("\n\n");
  route.schema = { ...route.schema, tags: [tag], description, security: scopes.map((scope) => ({ apiKey: [scope] })) };
  route.onRequest = async (request: FastifyRequest) => requireScope(callerOf(request), scopes);
}
