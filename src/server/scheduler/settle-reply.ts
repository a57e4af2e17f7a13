import type { Shape } from "../lib/shape.ts";
import type { HttpReply, OutboundReply } from "./outbound.ts";
import { isSuccess, readReply, toFailure, toUnreadable, toUpstream } from "./read-reply.ts";
import {
  type BookOutcome,
  type BookRequest,
  type FindOutcome,
  found,
  type Read,
  type UnlimitedSystem,
  unavailable,
} from "./scheduling-system.ts";

// What became of a booking, from the reply to the request that books:
//
// | reply                       | meaning                                                                        |
// |-----------------------------|--------------------------------------------------------------------------------|
// | none, request not sent      | unavailable                                                                    |
// | none, request sent          | unknown                                                                        |
// | 2xx of the expected shape   | the adapter decides                                                            |
// | 2xx of another shape        | unknown                                                                        |
// | 5xx except 503              | found out by looking (settleFault)                                             |
// | everything else             | the adapter decides; its words differ                                          |

export type SystemLookups = {
  readonly find: () => Promise<FindOutcome>;
  readonly isFree: () => Promise<Read<boolean>>;
};

export async function settleReply<T>(
  reply: OutboundReply,
  {
    shape,
    lookups,
    settleMade,
    settleRefusal,
  }: {
    shape: Shape<T>;
    lookups: SystemLookups;
    settleMade: (made: T, reply: HttpReply) => Promise<BookOutcome>;
    settleRefusal: (reply: HttpReply) => Promise<BookOutcome>;
  },
): Promise<BookOutcome> {
  if (reply.kind === "failure") {
    return reply.wasSent ? { kind: "unknown", upstream: toUpstream(reply) } : toFailure(reply);
  }
  if (isSuccess(reply)) {
    const read = readReply(reply, shape);
    return read.kind === "found"
      ? await settleMade(read.value, reply)
      : { kind: "unknown", upstream: toUnreadable(reply) };
  }
  return reply.status >= 500 && reply.status !== 503 ? await settleFault(reply, lookups) : await settleRefusal(reply);
}

/** The system's own word that it has ended. Other errors come from a gateway: the system behind it may still be working. */
const SYSTEM_FAILED = 500;

/**
 * Finds out what became of a booking after an error that may mean anything (Microsoft answers 500 even to a taken slot). If
 * there is an appointment with the reference, it was booked. If not, and the time is no longer free, it was taken. Otherwise
 * the system is unavailable. If the system cannot be asked, the outcome is unknown.
 */
export async function settleFault(reply: HttpReply, lookups: SystemLookups): Promise<BookOutcome> {
  const upstream = toUpstream(reply);
  const sought = await lookups.find();
  if (sought.kind === "found") return { kind: "booked", booked: sought.value };
  if (sought.kind !== "absent" || reply.status !== SYSTEM_FAILED) return { kind: "unknown", upstream };
  const free = await lookups.isFree();
  const isTaken = free.kind === "found" && !free.value;
  return isTaken ? { kind: "slot_taken" } : unavailable(upstream, reply.retryAfterMs);
}

/** A conflict can be with our own request, delivered twice. If the system can't be asked, the outcome is unknown. */
export async function settleConflict(reply: HttpReply, { find }: SystemLookups): Promise<BookOutcome> {
  const sought = await find();
  if (sought.kind === "found") return { kind: "booked", booked: sought.value };
  return sought.kind === "absent" ? { kind: "slot_taken" } : { kind: "unknown", upstream: toUpstream(reply) };
}

/** For a refusal that doesn't say why: if the time is no longer free, that is the reason. */
export async function settleUnexplained(reply: HttpReply, { isFree }: SystemLookups): Promise<BookOutcome> {
  const free = await isFree();
  return free.kind === "found" && !free.value ? { kind: "slot_taken" } : toFailure(reply);
}

/** Whether the requested time is still free. Asks for slots that start at exactly that time. */
export async function isStillFree(
  listSlots: UnlimitedSystem["listSlots"],
  { serviceId, staffId, startAt }: BookRequest,
  signal: AbortSignal,
): Promise<Read<boolean>> {
  const range = { from: startAt, to: new Date(startAt.getTime() + 1) };
  const slots = await listSlots({ serviceId, staffId, ...range }, signal);
  return slots.kind === "found" ? found(slots.value.length > 0) : slots;
}
