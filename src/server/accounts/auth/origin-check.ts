import type { FastifyRequest } from "fastify";
import type { Config } from "../../config.ts";
import { ApiError } from "../../http/api-error.ts";

/** Reads change nothing, so another site gains nothing by making a browser send them. */
const READS = ["GET", "HEAD"];

/**
 * Guard for writes that a cookie authorises: they must come from one of our own pages. Browsers send the page's origin with
 * every such request, and scripts cannot change it.
 */
export function requireOwnOrigin(config: Pick<Config, "baseUrl">, request: FastifyRequest): void {
  if (READS.includes(request.method)) return;
  const { origin, host } = request.headers;
  if (origin !== undefined && listOwnOrigins(config, host).includes(origin)) return;
  throw new ApiError("forbidden", describeOtherOrigin(new URL(config.baseUrl).origin));
}

function describeOtherOrigin(origin: string): string {
  return `This request came from another address. Open Bookflow at ${origin}. Operators: set BASE_URL to the address people use.`;
}

/**
 * Guard for reads that a cookie authorises: a link on another site must not make a member's browser download a file, because the
 * audit log would blame the member. Browsers say whether the linking page is ours; a typed address comes from no page.
 */
export function requireOwnLink(request: FastifyRequest): void {
  const from = request.headers["sec-fetch-site"];
  if (from === "cross-site" || from === "same-site")
    throw new ApiError("forbidden", "Download this file from the dashboard.");
}

/**
 * The origin of BASE_URL. If that is plain http, as on a developer's machine, the request's own host counts too, because
 * 127.0.0.1 and localhost are the same machine.
 */
export function listOwnOrigins(config: Pick<Config, "baseUrl">, host: string | null | undefined): string[] {
  const { origin, protocol } = new URL(config.baseUrl);
  return protocol === "http:" && host ? [origin, `http://${host}`] : [origin];
}
