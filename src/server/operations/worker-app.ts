import Fastify, { type FastifyInstance } from "fastify";
import type { Deps } from "../deps.ts";
import { installErrorHandler } from "../http/errors/error-handler.ts";
import { RECEIVING_LIMITS } from "../http/listen.ts";
import { makeRequestId } from "../http/request-log.ts";
import { installResponseHeaders } from "../http/response-headers.ts";
import { operationsRoutes } from "./routes.ts";

/** The HTTP routes of a process that only runs background tasks: the operator's monitoring. */
export function buildWorkerApp(deps: Deps): FastifyInstance {
  const app = Fastify({
    logger: false,
    genReqId: () => makeRequestId(deps.random),
    ...RECEIVING_LIMITS,
    forceCloseConnections: true,
  });
  installResponseHeaders(app, deps.config);
  installErrorHandler(app, deps);
  operationsRoutes(app, deps);
  return app;
}
