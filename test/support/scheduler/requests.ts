import assert from "node:assert/strict";
import { DAY_MS } from "#contract/durations.ts";
import { REFERENCE, type Reference } from "#contract/ids.ts";
import { randomId, systemRandom } from "../../../src/server/lib/secrets/random.ts";
import type {
  Booked,
  BookOutcome,
  BookRequest,
  Read,
  Slot,
  UnlimitedSystem,
} from "../../../src/server/scheduler/scheduling-system.ts";

export const WEEK_MS = 7 * DAY_MS;
export const NEVER: AbortSignal = new AbortController().signal;

export function toRequest(serviceId: string, slot: Slot): BookRequest {
  return {
    reference: randomId<Reference>(systemRandom, REFERENCE),
    serviceId,
    startAt: slot.startAt,
    staffId: null,
    customer: {
      name: "Mara Quell",
      email: "mara.quell@example.com",
      phone: "+49 30 1234567",
      notes: "Please ring twice",
      timeZone: "Europe/Prague",
      locale: "de",
    },
    answers: [],
  };
}

export async function listWeek(
  system: UnlimitedSystem,
  query: { now: Date; serviceId: string; staffId?: string },
): Promise<readonly Slot[]> {
  const { now, serviceId, staffId = null } = query;
  const range = { from: now, to: new Date(now.getTime() + WEEK_MS) };
  return requireFound(await system.listSlots({ serviceId, staffId, ...range }, NEVER));
}

export function requireFound<T>(read: Read<T>): T {
  assert.ok(read.kind === "found", JSON.stringify(read));
  return read.value;
}

export function requireBooked(outcome: BookOutcome): Booked {
  assert.ok(outcome.kind === "booked", JSON.stringify(outcome));
  return outcome.booked;
}

export function toStart(slot: Slot): string {
  return slot.startAt.toISOString();
}
