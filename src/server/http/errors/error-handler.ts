import { METHODS } from "node:http";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { isDatabaseUnavailable } from "../../db/connections/database-unavailable.ts";
import type { Deps } from "../../deps.ts";
import { prefersHtml } from "../accept.ts";
import { html } from "../pages/html.ts";
import { type PlainPage, sendPlainPage } from "../pages/plain-page.ts";
import { ApiError, CallerLeft } from "./api-error.ts";
import { takeOverRefusals } from "./client-error.ts";

/** Turns every error into the contract's error shape. Callers never see internals. */
export function installErrorHandler(app: FastifyInstance, deps: Pick<Deps, "log">): void {
  takeOverRefusals(app);
  app.setErrorHandler((error, request, reply) =>
    isUnknownPage(error, request)
      ? sendPlainPage(reply.code(404), UNKNOWN_PAGE)
      : sendError(deps, { error, request, reply }),
  );
  const methods = watchMethods(app);
  // Refused in onRequest, so the body of a request to an unknown path or with a wrong method is never read.
  app.addHook("onRequest", (request, _reply, done) =>
    request.is404 ? done(methods.refuse(request) ?? nothingHere()) : done(),
  );
  app.setNotFoundHandler((request, reply) => sendError(deps, { error: nothingHere(), request, reply }));
}

export function sendError(
  deps: Pick<Deps, "log">,
  { error: thrown, request, reply }: { error: unknown; request: FastifyRequest; reply: FastifyReply },
): FastifyReply {
  const error = hasHungUp(thrown, request) ? new CallerLeft() : thrown;
  const apiError = toApiError(error);
  logFault(deps, { apiError, error, request });
  return reply
    .code(apiError.status)
    .headers(apiError.headers)
    .type("application/json; charset=utf-8")
    .send(apiError.body);
}

const UNKNOWN_PAGE: PlainPage = {
  title: "Page not found",
  body: html`<h1>Page not found</h1>
<p>Check the address for typing errors, or go to the <a href="/app">dashboard</a> or the <a href="/docs">docs</a>.</p>`,
};

/** True for a person who opened an unknown address. Errors of the APIs are JSON for everyone. */
function isUnknownPage(error: unknown, { is404, url, headers }: FastifyRequest): boolean {
  const isApi = /^\/(?:embed-)?api(?![^/?])/.test(url);
  return is404 && !isApi && error instanceof ApiError && error.code === "not_found" && prefersHtml(headers.accept);
}

/** The connection was closed in the middle of the body. */
function hasHungUp(error: unknown, { raw }: FastifyRequest): boolean {
  return raw.readableAborted && raw.errored === error;
}

/** A caller's mistake is not logged. */
function logFault(
  deps: Pick<Deps, "log">,
  { apiError, error, request }: { apiError: ApiError; error: unknown; request: FastifyRequest },
): void {
  const route = request.routeOptions?.url;
  const fields = { requestId: request.id, ...(route === undefined ? {} : { route }), error };
  if (apiError.code === "internal") deps.log.error("request.failed", fields);
  else if (isDatabaseUnavailable(error)) deps.log.warn("request.unavailable", fields);
  else if (error instanceof CallerLeft) deps.log.debug("request.canceled", fields);
}

/** Accepts anything that may have been thrown. If this failed, Fastify would send the caller a message of its own. */
function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  if (isDatabaseUnavailable(error)) return databaseUnavailable();
  // The caller has left, so nobody reads the response.
  if (error instanceof CallerLeft) return new ApiError("unavailable", "The request was cancelled.");
  const { code, statusCode } = (error ?? {}) as { code?: unknown; statusCode?: unknown };
  if (code === "FST_ERR_BAD_URL") return new ApiError("bad_request", "The URL has malformed percent-encoding.");
  if (code === "FST_ERR_CTP_BODY_TOO_LARGE") return new ApiError("payload_too_large", "The request body is too large.");
  if (code === "FST_ERR_CTP_INVALID_MEDIA_TYPE")
    return new ApiError("bad_request", "Send the body as JSON, with the header `Content-Type: application/json`.");
  if (code === "FST_ERR_CTP_INVALID_JSON_BODY" || code === "FST_ERR_CTP_EMPTY_JSON_BODY")
    return new ApiError("bad_request", "The body isn't valid JSON.");
  // Fastify's own errors have a 4xx status.
  if (String(code).startsWith("FST_ERR_") && typeof statusCode === "number" && statusCode < 500)
    return malformedRequest();
  return wentWrong();
}

export function nothingHere(): ApiError {
  return new ApiError("not_found", "Nothing exists at this URL. Check the path.");
}

export function malformedRequest(): ApiError {
  return new ApiError("bad_request", "The request is malformed.");
}

const DATABASE_WAIT_SECONDS = "5";

/** This can also happen during a change; whether it was saved is then unknown. */
function databaseUnavailable(): ApiError {
  return new ApiError("unavailable", "The database can't be reached right now. Try again in a few seconds.", {
    "retry-after": DATABASE_WAIT_SECONDS,
  });
}

export function wentWrong(): ApiError {
  return new ApiError("internal", "Something went wrong in Bookflow. Try again.");
}

type Watched = { readonly url: string; readonly pattern: RegExp; readonly methods: Set<string> };

/** `refuse` gives a 405 with `Allow` if the path has routes with other methods. A route for each would slow every start. */
function watchMethods(app: FastifyInstance): { refuse(request: FastifyRequest): ApiError | null } {
  // Fastify answers methods that it doesn't know with a 404 of its own.
  for (const method of METHODS) if (!app.supportedMethods.includes(method)) app.addHttpMethod(method);
  const watched = new Map<string, Watched>();
  app.addHook("onRoute", ({ url, method }) => {
    const route = watched.get(url) ?? { url, pattern: toPattern(url), methods: new Set() };
    for (const one of [method].flat()) route.methods.add(one);
    watched.set(url, route);
  });
  let sorted: Watched[] | null = null;
  return {
    refuse({ url, method }) {
      sorted ??= [...watched.values()].sort((a, b) => countUnknowns(a.url) - countUnknowns(b.url));
      const path = toPath(url);
      const methods = sorted.find(({ pattern }) => pattern.test(path))?.methods;
      if (!methods || methods.has(method)) return null;
      const allow = [...methods].sort().join(", ");
      return new ApiError("method_not_allowed", `This URL only supports ${allow}.`, { allow });
    },
  };
}

/** The router ignores a slash at the end. */
function toPattern(url: string): RegExp {
  const parts = url.replace(/\/$/, "").split(/(:\w+|\*)/);
  const source = parts.map((part) => (part === "*" ? ".*" : part.startsWith(":") ? "[^/]+" : RegExp.escape(part)));
  return new RegExp(`^${source.join("")}/?$`);
}

/** As in the router, a fixed path comes before one with parameters, and a wildcard comes last. */
function countUnknowns(url: string): number {
  return url.split(":").length + (url.includes("*") ? 100 : 0);
}

/** An address that can't be decoded is compared as it is. `OPTIONS *` is about the server, so it gets what `/` gets. */
function toPath(url: string): string {
  if (url === "*") return "/";
  const [path = ""] = url.split("?");
  try {
    return decodeURI(path);
  } catch {
    return path;
  }
}
