import Fastify, { type FastifyInstance } from "fastify";
import { API_PREFIX } from "#contract/read-routes.ts";
import { authRoutes } from "./accounts/auth/auth-routes.ts";
import { publicLogoRoutes } from "./accounts/logo-routes.ts";
import { analyticsReadRoutes, Collector, collectRoutes, VisitReader, WRITER_LIMITS } from "./analytics/analytics.ts";
import { bearerAuth } from "./api-keys/bearer-auth.ts";
import { readTable } from "./api-keys/read-table.ts";
import { appApi } from "./app-api.ts";
import { followAppointment } from "./bookings/changes/follow-appointments.ts";
import { noticeRoutes } from "./bookings/changes/notice-routes.ts";
import { bookRoutes } from "./bookings/flow/book-routes.ts";
import { bookingReadRoutes } from "./bookings/stored/list/read-routes.ts";
import type { ServiceDeps } from "./create-deps.ts";
import { dashboardRoutes } from "./dashboard/routes.ts";
import { docsRoutes } from "./docs/routes.ts";
import { loadFrameFiles } from "./embed/frame-files.ts";
import { loaderRoutes } from "./embed/loader-routes.ts";
import { embedPageRoutes } from "./embed/routes.ts";
import { installJsonParser } from "./http/body.ts";
import { compileOnUse } from "./http/compile-on-use.ts";
import { describeApi, openApiRoutes } from "./http/docs/openapi.ts";
import { refuseMalformedRequest } from "./http/errors/client-error.ts";
import { installErrorHandler, sendError } from "./http/errors/error-handler.ts";
import { toTrustProxy } from "./http/limits/client-network.ts";
import { RECEIVING_LIMITS } from "./http/listen.ts";
import { prepareReadApi } from "./http/read-api.ts";
import { installRequestLog, readRequestId } from "./http/request-log.ts";
import { commonHeaders, installResponseHeaders } from "./http/response-headers.ts";
import { managementApi } from "./management-api.ts";
import { mcpRoutes } from "./mcp/routes.ts";
import { operationsRoutes } from "./operations/routes.ts";
import { unsubscribeRoutes } from "./reports/unsubscribe-routes.ts";
import { appointmentRoutes } from "./scheduler/sandbox/appointment-routes.ts";
import { eventReadRoutes } from "./webhooks/events/read-routes.ts";
import { OPENAPI_WEBHOOKS } from "./webhooks/openapi-webhooks.ts";
import { embedRoutes } from "./widgets/embed-routes.ts";
import { widgetReadRoutes } from "./widgets/read-routes.ts";

/** For members. What anyone may send is limited further, by route. */
const BODY_LIMIT_BYTES = 64 * 1024;
const KEEP_ALIVE_TIMEOUT_MS = 65_000;

/** All HTTP routes. Those of the dashboard are mounted in app-api.ts, and those for keys that manage in management-api.ts. */
export async function buildApp(deps: ServiceDeps): Promise<FastifyInstance> {
  const app = Fastify({
    logger: false,
    genReqId: ({ headers }) => readRequestId(headers, deps.random),
    bodyLimit: BODY_LIMIT_BYTES,
    ...RECEIVING_LIMITS,
    trustProxy: toTrustProxy(deps.config.trustProxy),
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
    forceCloseConnections: "idle",
    // A request that was being received when stopping began is answered like any other.
    return503OnClosing: false,
    routerOptions: { ignoreTrailingSlash: true },
    // An address that cannot be decoded is answered before any hook runs.
    frameworkErrors: (error, request, reply) =>
      void sendError(deps, { error, request, reply: reply.headers(commonHeaders(request.id)) }),
    clientErrorHandler: refuseMalformedRequest,
    schemaController: compileOnUse,
  });
  for (const name of ["caller", "person", "member"]) app.decorateRequest(name, null);
  installResponseHeaders(app, deps.config);
  installRequestLog(app, deps);
  installErrorHandler(app, deps);
  installJsonParser(app);
  await describeApi(app, deps.config, { webhooks: OPENAPI_WEBHOOKS });

  const authenticate = bearerAuth(deps);
  await app.register(
    async (api) => {
      prepareReadApi(api);
      api.addHook("onRequest", authenticate);
      await api.register(async (managed) => managementApi(managed, deps));
      const routes = readTable(api);
      widgetReadRoutes(routes, deps);
      bookingReadRoutes(routes, deps);
      eventReadRoutes(routes, deps);
      analyticsReadRoutes(routes, deps);
    },
    { prefix: API_PREFIX },
  );
  mcpRoutes(app, deps, authenticate);
  await authRoutes(app, deps);
  await appApi(app, deps);
  const visits = new VisitReader(deps.config);
  await collectRoutes(app, deps, new Collector(deps, visits, WRITER_LIMITS));
  embedRoutes(app, deps);
  loaderRoutes(app, new URL("../../dist/loader/", import.meta.url));
  publicLogoRoutes(app, deps);
  await embedPageRoutes(app, deps, loadFrameFiles());
  await dashboardRoutes(app, deps);
  await bookRoutes(app, deps, visits);
  await appointmentRoutes(app, deps, (appointment) => followAppointment(deps, appointment));
  await noticeRoutes(app, deps);
  await unsubscribeRoutes(app, deps);
  openApiRoutes(app);
  await docsRoutes(app);
  operationsRoutes(app, deps);
  return app;
}
