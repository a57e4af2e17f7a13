import { BASE58, type IdForm } from "#contract/ids.ts";
import { type Random, randomId } from "../lib/random.ts";

const REQUEST_ID: IdForm = { prefix: "req_", alphabet: BASE58, length: 16 };

/** What X-Request-Id and the log line of a request share. Always ours: one that a caller sent would be text in our log. */
export function makeRequestId(random: Random): string {
  return randomId(random, REQUEST_ID);
}
