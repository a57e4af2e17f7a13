import type { Shape } from "../lib/shape.ts";
import type { HttpReply, OutboundReply } from "./outbound.ts";
import { type Failure, found, type Read, refused, type Upstream, unavailable } from "./scheduling-system.ts";

// What a reply means when the request cannot have booked anything:
//
// | reply                     | meaning                                     |
// |---------------------------|---------------------------------------------|
// | 2xx of the expected shape | found                                       |
// | 2xx of another shape      | unavailable (`unreadable`)                  |
// | 401, 403                  | refused: credentials                        |
// | 404                       | refused: not found                          |
// | 408, 429, 5xx, no reply   | unavailable, with the wait that was asked for |
// | 3xx and every other 4xx   | refused: invalid                            |

export function readReply<T>(reply: OutboundReply, shape: Shape<T>): Read<T> {
  if (reply.kind !== "reply" || !isSuccess(reply)) return toFailure(reply);
  return shape.Check(reply.json) ? found(reply.json) : unavailable(toUnreadable(reply));
}

export function isSuccess(reply: HttpReply): boolean {
  return reply.status >= 200 && reply.status <= 299;
}

/** For a reply that is not a success. */
export function toFailure(reply: OutboundReply): Failure {
  const upstream = toUpstream(reply);
  if (reply.kind === "failure") return unavailable(upstream);
  const { status } = reply;
  if (status === 401 || status === 403) return refused("credentials", upstream);
  if (status === 404) return refused("not_found", upstream);
  if (status === 408 || status === 429 || status >= 500) return unavailable(upstream, reply.retryAfterMs);
  return refused("invalid", upstream);
}

export function toUpstream(reply: OutboundReply): Upstream {
  return reply.kind === "reply"
    ? { status: reply.status, requestId: reply.requestId, failure: null }
    : { status: null, requestId: null, failure: reply.code };
}

/** For a success with an unexpected body. */
export function toUnreadable(reply: OutboundReply): Upstream {
  return { ...toUpstream(reply), failure: "unreadable" };
}

export function isFailure(reply: OutboundReply | Failure): reply is Failure {
  return reply.kind === "refused" || reply.kind === "unavailable";
}

/** An appointment that is already gone counts as cancelled. */
export function toCanceled(reply: OutboundReply): Read<"canceled"> {
  const isGone = reply.kind === "reply" && (isSuccess(reply) || reply.status === 404);
  return isGone ? found("canceled") : toFailure(reply);
}
