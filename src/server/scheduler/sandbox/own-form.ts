import type { FastifyRequest } from "fastify";
import { ApiError } from "../../http/api-error.ts";

/** Prevents a form on another site from cancelling, even if that site knew the link. */
export function requireOwnForm(request: FastifyRequest): void {
  const { origin, "sec-fetch-site": from } = request.headers;
  const isOwn =
    origin === undefined ? from === undefined || from === "same-origin" : URL.parse(origin)?.host === request.host;
  if (!isOwn) throw new ApiError("forbidden", "Open the link you received and cancel there.");
}
