import type { FastifyInstance } from "fastify";
import type { Deps } from "../deps.ts";

/** Requests that match no route share one name, so that a scanner cannot fill the metrics with labels. */
const UNKNOWN_ROUTE = "(unknown)";

declare module "fastify" {
  interface FastifyContextConfig {
    /** Called thousands of times per second, so only failures are logged; /metrics counts the rest. */
    isQuiet?: true;
  }
}

/** One line and one measurement per request, by the route's pattern. The caller's address is not logged. */
export function installRequestLog(app: FastifyInstance, deps: Pick<Deps, "log" | "metrics">): void {
  app.addHook("onResponse", (request, reply, done) => {
    const route = request.is404 ? UNKNOWN_ROUTE : (request.routeOptions.url ?? UNKNOWN_ROUTE);
    const { method } = request;
    const status = reply.statusCode;
    const owner = request.caller ?? request.member;
    const durationMs = Math.round(reply.elapsedTime * 100) / 100;
    deps.metrics.httpRequests.observe({ method, route, status }, durationMs / 1000);
    const write = request.routeOptions.config.isQuiet && status < 400 ? deps.log.debug : deps.log.info;
    write("request.finished", {
      requestId: request.id,
      method,
      route,
      status,
      durationMs,
      ...(owner ? { organizationId: owner.organizationId } : {}),
    });
    done();
  });
}
