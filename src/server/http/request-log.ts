import type { IncomingHttpHeaders } from "node:http";
import type { FastifyInstance } from "fastify";
import { BASE58, type IdForm } from "#contract/ids.ts";
import type { Deps } from "../deps.ts";
import { type Random, randomId } from "../lib/secrets/random.ts";

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

const REQUEST_ID: IdForm = { prefix: "req_", alphabet: BASE58, length: 16 };

/** No spaces, dots and @, so that neither sentences nor addresses of people get into our log. */
const CALLERS_ID = /^[A-Za-z0-9_-]{8,64}$/;

/** The id shared by X-Request-Id and the request's log line: the caller's own if it is safe to log, or a new one. */
export function readRequestId(headers: IncomingHttpHeaders, random: Random): string {
  const given = headers["x-request-id"];
  return typeof given === "string" && CALLERS_ID.test(given) ? given : makeRequestId(random);
}

export function makeRequestId(random: Random): string {
  return randomId(random, REQUEST_ID);
}
