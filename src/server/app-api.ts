import type { FastifyInstance, FastifyRequest, RouteShorthandOptions } from "fastify";
import { APP_PREFIX, ORGANIZATION_HEADER, type TableRoute } from "#contract/app/routes.ts";
import { auditRoutes } from "./accounts/audit-routes.ts";
import { memberAuth, memberOf, personAuth, requireRole } from "./accounts/auth/member-auth.ts";
import { requireOwnOrigin } from "./accounts/auth/origin-check.ts";
import { tableRoutes } from "./accounts/auth/route-table.ts";
import { logoRoutes } from "./accounts/logo-routes.ts";
import { invitationRoutes } from "./accounts/members/invitation-routes.ts";
import { meRoutes } from "./accounts/members/me-routes.ts";
import { memberRoutes } from "./accounts/members/member-routes.ts";
import { entryRoutes } from "./accounts/setup/entry-routes.ts";
import { analyticsAppRoutes, reportLinkRoutes, segmentRoutes, sharedReportRoutes } from "./analytics/analytics.ts";
import { bookingExportRoutes } from "./bookings/stored/export/export-routes.ts";
import { bookingAppRoutes } from "./bookings/stored/list/app-routes.ts";
import type { ServiceDeps } from "./create-deps.ts";
import { overviewAppRoutes } from "./dashboard/overview-routes.ts";
import { OPEN_BODY_MAX_BYTES } from "./http/body.ts";
import { compressResponses } from "./http/compress.ts";
import { CsvExports, PIECE_TAKEN_MS_MAX } from "./http/csv-exports.ts";
import { managementRoutes } from "./management-routes.ts";
import { requireFeature } from "./organizations/plan.ts";
import { reportAppRoutes } from "./reports/app-routes.ts";

/** Everything that people and members do in the dashboard; contract/app/routes.ts says who may use which route. */
export async function appApi(app: FastifyInstance, deps: ServiceDeps): Promise<void> {
  await app.register(
    async (api) => {
      const csv = new CsvExports(deps, PIECE_TAKEN_MS_MAX);
      await api.register(async (open) => {
        open.addHook("onRequest", async (request) => requireOwnOrigin(deps.config, request));
        const routes = tableRoutes(open, deps, guard);
        entryRoutes(routes, deps);
        sharedReportRoutes(routes, deps);
      });
      await api.register(async (personal) => {
        personal.addHook("onRequest", personAuth(deps));
        meRoutes(tableRoutes(personal, deps, guard), deps);
      });
      await api.register(async (shared) => {
        shared.addHook("onRequest", memberAuth(deps));
        compressResponses(shared, isReadByOwnPage);
        const routes = tableRoutes(shared, deps, guard);
        logoRoutes(routes, deps);
        memberRoutes(routes, deps);
        invitationRoutes(routes, deps);
        auditRoutes(routes, deps, csv);
        overviewAppRoutes(routes, deps);
        bookingAppRoutes(routes, deps);
        bookingExportRoutes(routes, deps, csv);
        analyticsAppRoutes(routes, deps, csv);
        reportAppRoutes(routes, deps);
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

/** Checks the role and plan before the body is read, so that a caller without them learns nothing else. */
function guard({ role, feature, bodyBytesMax }: TableRoute): RouteShorthandOptions {
  const schema = { hide: true };
  if (role === "anyone") return { schema, bodyLimit: OPEN_BODY_MAX_BYTES };
  // personAuth has already checked it.
  if (role === "person") return { schema };
  return {
    schema,
    ...(bodyBytesMax === undefined ? {} : { bodyLimit: bodyBytesMax }),
    onRequest: async (request: FastifyRequest) => {
      const member = memberOf(request);
      requireRole(member, role);
      if (feature) requireFeature(member.plan, feature);
    },
  };
}
