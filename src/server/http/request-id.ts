import type { IncomingHttpHeaders } from "node:http";
import { BASE58, type IdForm } from "#contract/ids.ts";
import { type Random, randomId } from "../lib/secrets/random.ts";

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
