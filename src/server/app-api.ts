import type { FastifyInstance, FastifyRequest, RouteOptions } from "fastify";
import { APP_PREFIX, APP_ROUTES, type AppRoute } from "#contract/app/routes.ts";
import { memberAuth, memberOf, requireRole } from "./accounts/member-auth.ts";
import { analyticsAppRoutes } from "./analytics/app-routes.ts";
import { keyAppRoutes } from "./api-keys/app-routes.ts";
import { bookingAppRoutes } from "./bookings/app-routes.ts";
import type { Deps } from "./deps.ts";
import { assert } from "./lib/assert.ts";
import { requireFeature } from "./plans/gate.ts";
import { connectionAppRoutes } from "./scheduler/app-routes.ts";
import { deliveryAppRoutes } from "./webhooks/delivery-app-routes.ts";
import { endpointAppRoutes } from "./webhooks/endpoint-app-routes.ts";
import { widgetAppRoutes } from "./widgets/app-routes.ts";

/**
 * The dashboard API: what members do with their organization's things. Who may use a route stands in contract/app/routes.ts;
 * a route that is not listed there cannot be mounted here. Those about people themselves are in accounts/, and say it where
 * they stand; test/flows/app-matrix.test.ts asks them all.
 */
export async function appApi(app: FastifyInstance, deps: Deps): Promise<void> {
  await app.register(
    async (api) => {
      api.addHook("onRequest", memberAuth(deps));
      api.addHook("onRoute", guardRoute);
      widgetAppRoutes(api, deps);
      bookingAppRoutes(api, deps);
      analyticsAppRoutes(api, deps);
      endpointAppRoutes(api, deps);
      deliveryAppRoutes(api, deps);
      keyAppRoutes(api, deps);
      connectionAppRoutes(api, deps);
    },
    { prefix: APP_PREFIX },
  );
}

/** Before the body is read: whoever may not do a thing is not told what was wrong with how they asked for it. */
function guardRoute(route: RouteOptions): void {
  const listed: AppRoute | undefined = Object.values(APP_ROUTES).find(
    ({ method, path }) =>
      APP_PREFIX + path === route.url && method === (route.method === "HEAD" ? "GET" : route.method),
  );
  assert(listed, `${String(route.method)} ${route.url} stands in contract/app/routes.ts`);
  const { role, feature } = listed;
  const requireItsRole = requireRole(role);
  route.schema = { ...route.schema, hide: true };
  route.onRequest = async (request: FastifyRequest) => {
    await requireItsRole(request);
    if (feature) requireFeature(memberOf(request).plan, feature);
  };
}
