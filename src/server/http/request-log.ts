import type { FastifyInstance } from "fastify";
import type { Deps } from "../deps.ts";

/** Anything that matched no route goes under one name, so that a scanner cannot fill the metrics with labels. */
const UNKNOWN_ROUTE = "(unknown)";

declare module "fastify" {
  interface FastifyContextConfig {
    /** Answers browsers thousands of times a second: only what went wrong gets a line, /metrics counts the rest. */
    isQuiet?: true;
  }
}

/** One line and one measurement per request. The route's pattern stands for the address; the caller's address is not kept. */
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
