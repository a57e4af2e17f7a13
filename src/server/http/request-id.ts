import { BASE58, type IdForm } from "#contract/ids.ts";
import { type Random, randomId } from "../lib/random.ts";

const REQUEST_ID: IdForm = { prefix: "req_", alphabet: BASE58, length: 16 };

/**
 * The id shared by X-Request-Id and the request's log line. Always generated here: a caller's own id would put foreign
 * text into our log.
 */
export function makeRequestId(random: Random): string {
  return randomId(random, REQUEST_ID);
}
