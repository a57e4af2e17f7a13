import { setTimeout as sleep } from "node:timers/promises";
import type { Outbound, OutboundReply, OutboundRequest } from "./outbound.ts";

const THROTTLED = 429;
/** A longer wait doesn't fit into the time of a visitor's request. */
export const WAIT_MS_MAX = 5_000;
const WAIT_FALLBACK_MS = 1_000;
const RETRIES_MAX = 3;

/** A throttled request was not processed, so it is sent again after the wait that the system asks for, if that is short. */
export async function sendWithRetry(
  outbound: Outbound,
  request: OutboundRequest,
  signal: AbortSignal,
): Promise<OutboundReply> {
  let reply = await outbound.send(request, signal);
  for (let retries = 0; retries < RETRIES_MAX; retries++) {
    if (reply.kind !== "reply" || reply.status !== THROTTLED) return reply;
    const waitMs = reply.retryAfterMs ?? WAIT_FALLBACK_MS;
    if (waitMs > WAIT_MS_MAX) return reply;
    // The only rejection is the abort of the signal.
    await sleep(waitMs, undefined, { signal }).catch(() => undefined);
    if (signal.aborted) return reply;
    reply = await outbound.send(request, signal);
  }
  return reply;
}
