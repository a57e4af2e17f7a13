import type { FastifyReply, FastifyRequest } from "fastify";
import { ApiError } from "../../http/api-error.ts";

/** Allows our stylesheet and forms to our own origin. No script runs, whatever the name of a service contains. */
const CONTENT_SECURITY_POLICY =
  "default-src 'none'; style-src 'self'; img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

export function sendPage(reply: FastifyReply, page: string): FastifyReply {
  return (
    reply
      .type("text/html; charset=utf-8")
      .header("content-security-policy", CONTENT_SECURITY_POLICY)
      .header("x-robots-tag", "noindex")
      .header("vary", "Accept-Language")
      // The link is a secret, so other sites never see it. Our own form still sends its origin.
      .header("referrer-policy", "same-origin")
      .send(page)
  );
}

/** Prevents a form on another site from cancelling, even if that site knew the link. */
export function requireOwnForm(request: FastifyRequest): void {
  const { origin, "sec-fetch-site": from } = request.headers;
  const isOwn =
    origin === undefined ? from === undefined || from === "same-origin" : URL.parse(origin)?.host === request.host;
  if (!isOwn) throw new ApiError("forbidden", "Open the link you received and cancel there.");
}
