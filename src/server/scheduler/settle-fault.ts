import type { HttpReply } from "./outbound.ts";
import { toUpstream } from "./read-reply.ts";
import { type BookOutcome, type FindOutcome, type Read, unavailable } from "./scheduling-system.ts";

/** A gateway that gave up: the system behind it may still be working on it. */
const STILL_WORKING: ReadonlySet<number> = new Set([502, 504]);

/**
 * What became of a booking that the system answered with a fault which may mean anything (Microsoft answers 500 to a taken
 * slot too). The system itself is asked: an appointment with the reference is a success; without one, a time that is no
 * longer free was taken; otherwise the system is out of order. Where it cannot be asked, nobody knows.
 */
export async function settleFault(
  reply: HttpReply,
  ask: { find: () => Promise<FindOutcome>; isFree: () => Promise<Read<boolean>> },
): Promise<BookOutcome> {
  const upstream = toUpstream(reply);
  const sought = await ask.find();
  if (sought.kind === "found") return { kind: "booked", booked: sought.value };
  if (sought.kind !== "absent" || STILL_WORKING.has(reply.status)) return { kind: "unknown", upstream };
  const free = await ask.isFree();
  const isTaken = free.kind === "found" && !free.value;
  return isTaken ? { kind: "slot_taken" } : unavailable(upstream, reply.retryAfterMs);
}
