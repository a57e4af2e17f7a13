import type { FastifyInstance, FastifyRequest, RouteOptions } from "fastify";
import {
  ACCOUNT_ROUTES,
  type AccountRoute,
  APP_PREFIX,
  APP_ROUTES,
  type AppRoute,
  ORGANIZATION_HEADER,
} from "#contract/app/routes.ts";
import { auditRoutes } from "./accounts/audit-routes.ts";
import { memberAuth, memberOf, personAuth, requireRole } from "./accounts/auth/member-auth.ts";
import { tableRoutes } from "./accounts/auth/route-table.ts";
import { logoRoutes } from "./accounts/logo-routes.ts";
import { invitationRoutes } from "./accounts/members/invitation-routes.ts";
import { meRoutes } from "./accounts/members/me-routes.ts";
import { memberRoutes } from "./accounts/members/member-routes.ts";
import { entryRoutes } from "./accounts/setup/entry-routes.ts";
import { analyticsAppRoutes, reportLinkRoutes, segmentRoutes, sharedReportRoutes } from "./analytics/analytics.ts";
import { bookingAppRoutes } from "./bookings/stored/app-routes.ts";
import { bookingExportRoutes } from "./bookings/stored/export-routes.ts";
import type { ServiceDeps } from "./create-deps.ts";
import { overviewAppRoutes } from "./dashboard/overview-routes.ts";
import { OPEN_BODY_MAX_BYTES } from "./http/body.ts";
import { compressResponses } from "./http/compress.ts";
import { CsvExports } from "./http/csv-exports.ts";
import { assert } from "./lib/assert.ts";
import { managementRoutes } from "./management-routes.ts";
import { requireFeature } from "./organizations/gate.ts";
import { reportAppRoutes } from "./reports/app-routes.ts";

/** Everything that people and members do in the dashboard; contract/app/routes.ts says who may use which route. */
export async function appApi(app: FastifyInstance, deps: ServiceDeps): Promise<void> {
  await app.register(
    async (api) => {
      api.addHook("onRoute", guardRoute);
      const csv = new CsvExports(deps);
      await api.register(async (open) => {
        entryRoutes(open, deps);
        sharedReportRoutes(open, deps);
      });
      await api.register(async (personal) => {
        personal.addHook("onRequest", personAuth(deps));
        meRoutes(personal, deps);
      });
      await api.register(async (shared) => {
        shared.addHook("onRequest", memberAuth(deps));
        compressResponses(shared, isReadByOwnPage);
        logoRoutes(shared, deps);
        memberRoutes(shared, deps);
        invitationRoutes(shared, deps);
        auditRoutes(shared, deps, csv);
        overviewAppRoutes(shared, deps);
        bookingAppRoutes(shared, deps);
        bookingExportRoutes(shared, deps, csv);
        analyticsAppRoutes(shared, deps, csv);
        reportAppRoutes(shared, deps);
        const routes = tableRoutes(shared, deps);
        segmentRoutes(routes, deps);
        reportLinkRoutes(routes, deps);
        managementRoutes(routes, deps);
      });
    },
    { prefix: APP_PREFIX },
  );
}

/** Other sites can't send our header. Links can't either: they are downloads. Responses to changes may have a new secret. */
function isReadByOwnPage({ method, headers }: FastifyRequest): boolean {
  return ["GET", "HEAD"].includes(method) && headers[ORGANIZATION_HEADER] !== undefined;
}

const ROUTES: readonly (AppRoute | AccountRoute)[] = [...Object.values(APP_ROUTES), ...Object.values(ACCOUNT_ROUTES)];

/** Checks the role and plan before the body is read, so that a caller without them learns nothing else. */
function guardRoute(route: RouteOptions): void {
  const listed = ROUTES.find(
    ({ method, path }) =>
      APP_PREFIX + path === route.url && method === (route.method === "HEAD" ? "GET" : route.method),
  );
  assert(listed, `${String(route.method)} ${route.url} is listed in contract/app/routes.ts`);
  const { role, feature } = listed;
  route.schema = { ...route.schema, hide: true };
  if (role === "anyone") route.bodyLimit = OPEN_BODY_MAX_BYTES;
  // `anyone` needs no sign-in; personAuth has already checked it for `person`.
  if (role === "anyone" || role === "person") return;
  route.onRequest = async (request: FastifyRequest) => {
    const member = memberOf(request);
    requireRole(member, role);
    if (feature) requireFeature(member.plan, feature);
  };
}
