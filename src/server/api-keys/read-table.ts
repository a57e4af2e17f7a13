import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Static } from "typebox";
import { READ_ROUTES, type ReadRouteName } from "#contract/read-routes.ts";
import { KEY_SCOPES } from "#contract/scopes.ts";
import type { Query } from "../http/parameters.ts";
import { readApiResponses } from "../http/read-api.ts";
import { type Caller, callerOf, requireScope } from "./bearer-auth.ts";

/** A request to the read API, by a key with one of the route's scopes. */
type ReadCall = {
  caller: Caller;
  params: Readonly<Record<string, string>>;
  query: Query;
  request: Pick<FastifyRequest, "signal">;
};

/** Where the slices add their routes of the read API, by name. The response may be JSON already. */
export type ReadRoutes = {
  add<Name extends ReadRouteName>(
    name: Name,
    read: (call: ReadCall) => Promise<Static<(typeof READ_ROUTES)[Name]["response"]> | string>,
  ): void;
};

/** Mounts routes behind the bearer guard, as contract/read-routes.ts describes them, and checks the key's scopes. */
export function readTable(api: FastifyInstance): ReadRoutes {
  return {
    add(name, read) {
      const route: (typeof READ_ROUTES)[ReadRouteName] = READ_ROUTES[name];
      const { path, scopes, tag, summary, response, meaning } = route;
      const words =
        scopes === KEY_SCOPES ? "any scope" : `the scope ${scopes.map((scope) => `\`${scope}\``).join(" or ")}`;
      const schema = {
        operationId: name,
        summary,
        description: `${route.description}\n\nThe key needs ${words}.`,
        tags: [tag],
        security: scopes.map((scope) => ({ apiKey: [scope] })),
        ...("params" in route ? { params: route.params } : {}),
        ...("query" in route ? { querystring: route.query } : {}),
        response: readApiResponses(response, meaning),
      };
      api.get(
        path,
        { schema, onRequest: async (request) => requireScope(callerOf(request), scopes) },
        async (request, reply) => {
          const { params, query } = request as FastifyRequest<{ Params: ReadCall["params"]; Querystring: Query }>;
          const body = await read({ caller: callerOf(request), params, query, request });
          if (typeof body === "string") reply.type("application/json; charset=utf-8");
          return reply.send(body);
        },
      );
    },
  };
}
