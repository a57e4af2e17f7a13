import { MINUTE_MS } from "#contract/durations.ts";
import type { Reference } from "#contract/ids.ts";
import { pause } from "../../lib/concurrency/pause.ts";
import type { Booked, BookOutcome, SchedulingSystem } from "../../scheduler/scheduler.ts";
import { freeReferences } from "../stored/queries.ts";
import { type BookingFailure, insertPending, type PendingCopy, type PendingHit } from "./pending-queries.ts";
import { takeReference } from "./reference.ts";
import {
  hashKey,
  hashVisit,
  type MadeBooking,
  type MakeDeps,
  type RepeatedBooking,
  respondAgain,
} from "./repeat-booking.ts";
import { toBookResponse } from "./settle-booking.ts";

// A booking, from the visitor's request to the response:
//
//   reserve      a reference, and then a pending row, before the scheduling system is asked; a repeated key finds that row
//                (repeat-booking.ts)
//   ask          the scheduling system books, with the reference in its notes
//   look up      if its reply was lost, search for the reference; never ask twice. Not finding it proves nothing: the system may
//                still be working. The outcome is uncertain then, and a task keeps looking (settle-overdue.ts). Until it knows,
//                the same request, and any other of the visit for the service, waits
//   settle       one transaction: count, store and send the booking, or count the failure
//   respond      with what the scheduling system said, even if settling failed; it is tried again (settler.ts), and if this process
//                ends, a task settles the booking (settle-overdue.ts)

export type WantedBooking = Required<RepeatedBooking> & {
  /** Null: the visitor has no preference. */
  staffId: string | null;
  /** The people whom the widget offers; null: everyone. */
  offeredStaffIds: readonly string[] | null;
  locale: string;
  hit: PendingHit;
  /** Everything personal; written to the database only if the widget stores bookings. */
  copy: PendingCopy;
};

/** More than asking and looking up take together. After it, a task takes over. */
const ASKING_MS = MINUTE_MS;
/** When the visitor's request looks for a lost booking: at once, 2 and 7 seconds after the 20 seconds that booking may take. */
const LOOK_UP_PAUSES = [0, 0.1, 0.25];

export async function makeBooking(
  deps: MakeDeps,
  system: SchedulingSystem,
  wanted: WantedBooking,
): Promise<MadeBooking> {
  for (;;) {
    const reserved = await reserve(deps, wanted);
    if (reserved.kind === "reserved") return await makeFirst(deps, system, { wanted, reference: reserved.reference });
    const known = await respondAgain(deps, system, wanted);
    if (known.kind !== "unused") return known;
    if (reserved.kind === "closed") return reserved;
  }
}

async function makeFirst(
  deps: MakeDeps,
  system: SchedulingSystem,
  { wanted, reference }: { wanted: WantedBooking; reference: Reference },
): Promise<MadeBooking> {
  const booking = { owner: wanted.owner, reference, widgetId: wanted.widgetId, hit: wanted.hit };
  const outcome = await ask(deps, system, { wanted, reference });
  switch (outcome.kind) {
    case "booked": {
      const { timeZone } = wanted.copy;
      const confirmed = { ...booking, timeZone, booked: outcome.booked, isTest: system.mode !== "live" };
      await deps.settler.confirm(confirmed);
      return { kind: "confirmed", response: toBookResponse(confirmed) };
    }
    case "unknown":
      await deps.settler.leave(booking);
      return { kind: "uncertain" };
    case "failed":
      await deps.settler.fail({ ...booking, failure: outcome.failure });
      return { kind: "failed", failure: outcome.failure };
    default:
      return outcome satisfies never;
  }
}

type Reserved =
  | { kind: "reserved"; reference: Reference }
  | { kind: "used_before" }
  | Extract<MadeBooking, { kind: "closed" }>;

async function reserve(deps: MakeDeps, wanted: WantedBooking): Promise<Reserved> {
  const { owner, widgetId } = wanted;
  const reference = await takeReference(deps.db, owner, deps.random);
  const now = deps.clock.now();
  const pending = {
    reference,
    widget_id: widgetId,
    asked_in: wanted.connectionId ?? "sandbox",
    keyHash: hashKey(wanted),
    visitHash: hashVisit(wanted),
    service_id: wanted.serviceId,
    start_at: wanted.startAt,
    askingUntil: new Date(now.getTime() + ASKING_MS),
    hit: wanted.hit,
    copy: wanted.copy,
    now,
  } as const;
  try {
    const inserted = await insertPending(deps.db, owner, pending);
    if (inserted?.isNew) return { kind: "reserved", reference };
    await freeReferences(deps.db, owner, [reference]);
    if (inserted?.status !== "active") return { kind: "closed", status: inserted?.status ?? "deleted" };
    return { kind: "used_before" };
  } catch (error) {
    // The row may exist, if only the reply to the commit was lost. Nobody asks for it, so a repeated key must not wait for it.
    deps.settler.withdraw({ owner, widgetId, reference });
    throw error;
  }
}

type Asked = { kind: "booked"; booked: Booked } | { kind: "failed"; failure: BookingFailure } | { kind: "unknown" };

async function ask(
  { metrics, scheduler }: MakeDeps,
  system: SchedulingSystem,
  { wanted, reference }: { wanted: WantedBooking; reference: Reference },
): Promise<Asked> {
  const { serviceId, startAt, staffId, offeredStaffIds, copy, locale } = wanted;
  const measure = metrics.bookingDuration.startTimer({ system: system.kind });
  const outcome = await system.book({
    reference,
    serviceId,
    startAt,
    staffId,
    offeredStaffIds,
    customer: { ...copy.customer, timeZone: copy.timeZone, locale },
    answers: copy.answers,
  });
  measure({ outcome: outcome.kind });
  if (outcome.kind !== "unknown") return toAsked(outcome);
  for (const part of LOOK_UP_PAUSES) {
    await pause(part * scheduler.limits.bookMs);
    const found = await system.findByReference({ reference, serviceId, startAt });
    if (found.kind === "found") return { kind: "booked", booked: found.value };
    // The sandbox is in our own database, which has written an appointment by now, or never will. If the database is down, making
    // the visitor wait doesn't help.
    if (system.kind === "sandbox" && found.kind === "absent" && part > 0) return { kind: "failed", failure: "lost" };
    if (found.kind === "unavailable" && found.upstream?.failure === "database") break;
  }
  return { kind: "unknown" };
}

function toAsked(outcome: Exclude<BookOutcome, { kind: "unknown" }>): Asked {
  switch (outcome.kind) {
    case "booked":
      return { kind: "booked", booked: outcome.booked };
    case "slot_taken":
    case "refused":
    case "unavailable":
      return { kind: "failed", failure: outcome.kind };
    default:
      return outcome satisfies never;
  }
}
