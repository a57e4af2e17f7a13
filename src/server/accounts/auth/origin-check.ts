import type { FastifyRequest } from "fastify";
import type { Config } from "../../config.ts";
import { ApiError } from "../../http/api-error.ts";

/** They change nothing, so a page elsewhere gains nothing by making a browser send them. */
const READS = ["GET", "HEAD"];

/**
 * Guard of every write that a cookie allows: it must come from a page of our own. Browsers name the page's origin with every
 * such request and let no page change it.
 */
export function requireOwnOrigin(config: Pick<Config, "baseUrl">, request: FastifyRequest): void {
  if (READS.includes(request.method)) return;
  const { origin, host } = request.headers;
  if (origin !== undefined && listOwnOrigins(config, host).includes(origin)) return;
  throw new ApiError("forbidden", `Changes are made from pages at ${new URL(config.baseUrl).origin} only.`);
}

/**
 * Guard of reads that a cookie allows: a link elsewhere must not make a member's browser fetch a file, which the audit log would
 * put down to them. Browsers name the relation of the two pages; what is typed into the address bar comes from none.
 */
export function requireOwnLink(request: FastifyRequest): void {
  const from = request.headers["sec-fetch-site"];
  if (from === "cross-site" || from === "same-site")
    throw new ApiError("forbidden", "This can be asked for from our own pages only.");
}

/**
 * BASE_URL; and where that is plain http, as on a developer's machine, also the name by which this request reached us, since
 * 127.0.0.1 and localhost are one place under two names.
 */
export function listOwnOrigins(config: Pick<Config, "baseUrl">, host: string | null | undefined): string[] {
  const { origin, protocol } = new URL(config.baseUrl);
  return protocol === "http:" && host ? [origin, `http://${host}`] : [origin];
}
