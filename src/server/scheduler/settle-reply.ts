import type { HttpReply } from "./outbound.ts";
import { toUpstream } from "./read-reply.ts";
import { type BookOutcome, type FindOutcome, type Read, unavailable } from "./scheduling-system.ts";

/** A gateway gave up, but the system behind it may still be working. */
const STILL_WORKING: ReadonlySet<number> = new Set([502, 504]);

/**
 * Finds out what became of a booking after an error that may mean anything (Microsoft answers 500 even to a taken slot). If
 * there is an appointment with the reference, it was booked. If not, and the time is no longer free, it was taken. Otherwise
 * the system is unavailable. If the system cannot be asked, the outcome is unknown.
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
