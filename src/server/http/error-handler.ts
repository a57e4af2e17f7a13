import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Deps } from "../deps.ts";
import { ApiError } from "./api-error.ts";

/** Turns whatever went wrong into the contract's error shape. Nothing internal ever reaches a caller. */
export function installErrorHandler(app: FastifyInstance, deps: Pick<Deps, "log">): void {
  app.setErrorHandler((error: FastifyError, request, reply) => sendError(deps, { error, request, reply }));
  app.setNotFoundHandler((request, reply) =>
    sendError(deps, { error: new ApiError("not_found", "There is nothing at this address."), request, reply }),
  );
}

export function sendError(
  deps: Pick<Deps, "log">,
  { error, request, reply }: { error: Error; request: FastifyRequest; reply: FastifyReply },
): FastifyReply {
  const apiError = toApiError(error);
  if (apiError.code === "internal") {
    const route = request.routeOptions?.url;
    deps.log.error("request.failed", { requestId: request.id, ...(route === undefined ? {} : { route }), error });
  }
  return reply
    .code(apiError.status)
    .headers(apiError.headers)
    .type("application/json; charset=utf-8")
    .send(apiError.body);
}

function toApiError(error: Error & { statusCode?: number; code?: string }): ApiError {
  if (error instanceof ApiError) return error;
  if (error.code === "FST_ERR_BAD_URL")
    return new ApiError("bad_request", "The address has a malformed percent-encoding.");
  // Fastify's own refusals (body too large, unknown content type, malformed JSON) carry a 4xx status of theirs.
  if (error.code?.startsWith("FST_ERR_") && error.statusCode !== undefined && error.statusCode < 500)
    return new ApiError("bad_request", "The request is malformed.");
  return new ApiError("internal", "Something went wrong on our side. Please try again.");
}
