import type { FastifyRequest } from "fastify";
import type { Config } from "../../config.ts";
import { ApiError } from "../../http/errors/api-error.ts";

/** Reads change nothing, so another site gains nothing by making a browser send them. */
const READS = ["GET", "HEAD"];

/** Guard for writes that a cookie authorises: the Origin must be ours. Browsers send it, and scripts can't change it. */
export function requireOwnOrigin(config: Pick<Config, "baseUrl">, request: FastifyRequest): void {
  if (READS.includes(request.method)) return;
  const { origin, host } = request.headers;
  if (origin !== undefined && listOwnOrigins(config, host).includes(origin)) return;
  throw new ApiError("forbidden", describeOtherOrigin(new URL(config.baseUrl).origin));
}

function describeOtherOrigin(origin: string): string {
  return `This request came from another address. Open Bookflow at ${origin}. Operators: set BASE_URL to the address people use.`;
}

/** Guard for downloads that a cookie authorises: a link on another site must not cause an audit entry of a member's. */
export function requireOwnLink(request: FastifyRequest): void {
  const from = request.headers["sec-fetch-site"];
  if (from === "cross-site" || from === "same-site")
    throw new ApiError("forbidden", "Download this file from the dashboard.");
}

/** BASE_URL's origin; with plain http also the request's own host, because 127.0.0.1 and localhost are one machine. */
export function listOwnOrigins(config: Pick<Config, "baseUrl">, host: string | null | undefined): string[] {
  const { origin, protocol } = new URL(config.baseUrl);
  return protocol === "http:" && host ? [origin, `http://${host}`] : [origin];
}
