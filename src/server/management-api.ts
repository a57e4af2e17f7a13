import type { FastifyInstance, FastifyRequest, RouteShorthandOptions } from "fastify";
import { Type } from "typebox";
import type { TableRoute } from "#contract/app/routes.ts";
import {
  API_KEY_ID,
  CONNECTION_ID,
  DELIVERY_ID_PATTERN,
  ENDPOINT_ID,
  REDELIVERY_ID,
  toIdPattern,
  WIDGET_ID_PATTERN,
} from "#contract/ids.ts";
import { memberOf, requireRole } from "./accounts/auth/member-auth.ts";
import { tableRoutes } from "./accounts/auth/route-table.ts";
import { callerOf, requireScope } from "./api-keys/bearer-auth.ts";
import type { ServiceDeps } from "./create-deps.ts";
import { requireResponding } from "./db/home.ts";
import { IDEMPOTENCY_KEY_HEADERS } from "./http/idempotency-key.ts";
import { managementResponses } from "./http/read-api.ts";
import { assert } from "./lib/assert.ts";
import { managementRoutes } from "./management-routes.ts";
import { requireFeature } from "./organizations/plan.ts";

/**
 * What programs manage with a key: the routes of the dashboard API that have scopes in contract/app/routes.ts, under /api/v1. Behind the
 * bearer guard. A key may do what an admin may, and the audit log names the key.
 */
export function managementApi(api: FastifyInstance, deps: ServiceDeps): void {
  api.addHook("onRequest", async (request) => {
    const { keyId, name, organizationId, plan, timeZone, ...key } = callerOf(request);
    await requireResponding(deps.db, organizationId);
    request.member = { userId: keyId, email: `API key ${name}`, organizationId, role: "admin", plan, timeZone, key };
  });
  managementRoutes(tableRoutes(api, deps, guard), deps);
}

/** Only routes with scopes are for keys. */
function guard(route: TableRoute, operationId: string): RouteShorthandOptions | null {
  const { scopes, role, feature, path, summary, query, body } = route;
  if (scopes === undefined) return null;
  const schema = {
    operationId,
    ...(summary === undefined ? {} : { summary }),
    description: describe(scopes, feature),
    tags: [toTag(path)],
    security: [{ apiKey: [...scopes] }],
    ...(path.includes(":") ? { params: toParams(path) } : {}),
    ...(query ? { querystring: query } : {}),
    ...(body ? { body } : {}),
    ...(route.hasIdempotencyKey ? { headers: IDEMPOTENCY_KEY_HEADERS } : {}),
    response: managementResponses(route),
  };
  const onRequest = async (request: FastifyRequest) => {
    for (const scope of scopes) requireScope(callerOf(request), [scope]);
    if (role !== "anyone" && role !== "person") requireRole(memberOf(request), role);
    if (feature) requireFeature(memberOf(request).plan, feature);
  };
  return { schema, onRequest };
}

function describe(scopes: readonly string[], feature: string | undefined): string {
  const names = scopes.map((scope) => `\`${scope}\``);
  const plan = feature === "webhooks" ? " Webhooks are on the Pro and Business plans." : "";
  return `The key needs the ${names.length > 1 ? "scopes" : "scope"} ${names.join(" and ")}.${plan}`;
}

function toTag(path: string): string {
  const [, name = ""] = path.split("/");
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

function toParams(path: string) {
  const names = [...path.matchAll(/:(\w+)/g)].map(([, name = ""]) => name);
  return Type.Object(
    Object.fromEntries(
      names.map((name) => {
        const pattern = ID_PATTERNS[name];
        assert(pattern, "each kind of ID has a pattern");
        return [name, Type.String({ pattern, description: `The ${name}'s ID.` })];
      }),
    ),
  );
}
