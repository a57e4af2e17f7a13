import type { FastifyInstance, FastifyRequest, RouteOptions } from "fastify";
import { Type } from "typebox";
import { ROUTE_TABLE, type TableRoute } from "#contract/app/routes.ts";
import {
  API_KEY_ID,
  CONNECTION_ID,
  DELIVERY_ID_PATTERN,
  ENDPOINT_ID,
  REDELIVERY_ID,
  toIdPattern,
  WIDGET_ID_PATTERN,
} from "#contract/ids.ts";
import { API_PREFIX } from "#contract/read-routes.ts";
import { memberOf, requireRole } from "./accounts/auth/member-auth.ts";
import { tableRoutes } from "./accounts/auth/route-table.ts";
import { callerOf, requireScope } from "./api-keys/bearer-auth.ts";
import type { ServiceDeps } from "./create-deps.ts";
import { IDEMPOTENCY_KEY_HEADERS } from "./http/idempotency-key.ts";
import { managementResponses } from "./http/read-api.ts";
import { assert } from "./lib/assert.ts";
import { managementRoutes } from "./management-routes.ts";
import { requireFeature } from "./organizations/gate.ts";

/**
 * What programs manage with a key: the routes of the dashboard API that have scopes in contract/app/routes.ts, under /api/v1. Behind the
 * bearer guard. A key may do what an admin may, and the audit log names the key.
 */
export function managementApi(api: FastifyInstance, deps: ServiceDeps): void {
  api.addHook("onRoute", guardRoute);
  api.addHook("onRequest", async (request) => {
    const { keyId, name, organizationId, plan, timeZone, ...key } = callerOf(request);
    request.member = { userId: keyId, email: `API key ${name}`, organizationId, role: "admin", plan, timeZone, key };
  });
  managementRoutes(
    tableRoutes(api, deps, ({ scopes }) => scopes !== undefined),
    deps,
  );
}

function guardRoute(route: RouteOptions): void {
  const method = route.method === "HEAD" ? "GET" : route.method;
  const found = Object.entries<TableRoute>(ROUTE_TABLE).find(
    ([, each]) => API_PREFIX + each.path === route.url && each.method === method,
  );
  assert(found, `${String(method)} ${route.url} is listed in contract/app/routes.ts`);
  const [operationId, listed] = found;
  const { scopes = [], role, feature, hasIdempotencyKey } = listed;
  route.schema = {
    operationId,
    ...(listed.summary === undefined ? {} : { summary: listed.summary }),
    description: describe(scopes, feature),
    tags: [toTag(route.url)],
    security: [{ apiKey: [...scopes] }],
    ...(route.url.includes(":") ? { params: toParams(route.url) } : {}),
    ...(listed.query ? { querystring: listed.query } : {}),
    ...(listed.body ? { body: listed.body } : {}),
    ...(hasIdempotencyKey ? { headers: IDEMPOTENCY_KEY_HEADERS } : {}),
    response: managementResponses(listed),
  };
  route.onRequest = async (request: FastifyRequest) => {
    for (const scope of scopes) requireScope(callerOf(request), [scope]);
    if (role !== "anyone" && role !== "person") requireRole(memberOf(request), role);
    if (feature) requireFeature(memberOf(request).plan, feature);
  };
}

function describe(scopes: readonly string[], feature: string | undefined): string {
  const names = scopes.map((scope) => `\`${scope}\``);
  const plan = feature === "webhooks" ? " Webhooks are on the Pro and Business plans." : "";
  return `The key needs the ${names.length > 1 ? "scopes" : "scope"} ${names.join(" and ")}.${plan}`;
}

function toTag(url: string): string {
  const [name = ""] = url.slice(API_PREFIX.length + 1).split("/");
  return name;
}

const ID_PATTERNS: Readonly<Record<string, string>> = {
  widget: WIDGET_ID_PATTERN,
  endpoint: toIdPattern(ENDPOINT_ID),
  delivery: DELIVERY_ID_PATTERN,
  redelivery: toIdPattern(REDELIVERY_ID),
  key: toIdPattern(API_KEY_ID),
  connection: toIdPattern(CONNECTION_ID),
};

function toParams(url: string) {
  const names = [...url.matchAll(/:(\w+)/g)].map(([, name = ""]) => name);
  return Type.Object(
    Object.fromEntries(
      names.map((name) => {
        const pattern = ID_PATTERNS[name];
        assert(pattern, `the IDs of ${name} have a pattern`);
        return [name, Type.String({ pattern, description: `The ${name}'s ID.` })];
      }),
    ),
  );
}
