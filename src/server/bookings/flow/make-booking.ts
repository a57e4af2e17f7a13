import { createHash } from "node:crypto";
import type { BookAnswer } from "#contract/book.ts";
import { BOOKING_STATUS_CONFIRMED } from "#contract/booking.ts";
import { MINUTE_MS } from "#contract/durations.ts";
import type { ConnectionId, OrganizationId, Reference, WidgetId } from "#contract/ids.ts";
import { inOrganization } from "../../db/transactions.ts";
import type { Deps } from "../../deps.ts";
import { pause } from "../../lib/concurrency/pause.ts";
import type { Booked, BookOutcome, SchedulingSystem, Sought } from "../../scheduler/scheduling-system.ts";
import { holdSwitches } from "../../widgets/bookable-widget.ts";
import { freeReferences } from "../stored/queries.ts";
import {
  type BookingFailure,
  findPendingByKey,
  insertAbandoned,
  insertPending,
  type PendingBooking,
  type PendingCopy,
  type PendingTouch,
} from "./pending-queries.ts";
import { takeReference } from "./reference.ts";
import { toAnswer } from "./settle-booking.ts";
import type { Settler } from "./settler.ts";

// A booking, from the visitor's request to the answer:
//
//   reserve      a reference and a pending row, before the scheduling system is asked; a repeated key finds that row
//   ask          the scheduling system books, with the reference in its notes
//   look up      if its reply was lost, search for the reference; never ask twice
//   settle       one transaction: count, store and send the booking, or count the failure
//   answer       what the scheduling system said, even if settling failed; it is tried again (settler.ts), and if this process
//                ends, a task settles the booking (settle-overdue.ts)

type MakeDeps = Pick<Deps, "db" | "clock" | "random" | "metrics"> & { readonly settler: Settler };

export type WantedBooking = {
  owner: OrganizationId;
  widgetId: WidgetId;
  /** Null: the sandbox. */
  connectionId: ConnectionId | null;
  idempotencyKey: string;
  serviceId: string;
  startAt: Date;
  /** Null: the visitor has no preference. */
  staffId: string | null;
  /** The people whom the widget offers; null: everyone. */
  offeredStaffIds: readonly string[] | null;
  locale: string;
  touch: PendingTouch;
  /** Everything personal; written to the database only if the widget stores bookings. */
  copy: PendingCopy;
};

export type MadeBooking =
  | { kind: "confirmed"; answer: BookAnswer }
  | { kind: "failed"; failure: BookingFailure }
  /** The key was used for another slot or service. */
  | { kind: "key_reused" }
  /** The outcome of the first request with this key is not known yet. */
  | { kind: "under_way" }
  /** The widget was paused, or deleted, since the request arrived. Nothing was booked. */
  | { kind: "closed"; status: "paused" | "deleted" };

/** More than asking and looking up take together. After it, a task takes over. */
const ASKING_MS = MINUTE_MS;
/** How long we search for a lost outcome before calling it a failure. */
export const SEARCH_MS = 15 * MINUTE_MS;
const LOOK_UP_PAUSES_MS = [0, 2_000, 5_000];
const SECOND_REQUEST_PAUSE_MS = 250;
/**
 * How long a second request waits, and when it looks the booking up: the process that got the first request may have ended after
 * the scheduling system confirmed it. While the first request can still be booking, for 20 seconds (scheduler/limit-system.ts), an
 * appointment proves nothing, because it is cancelled again if it lost a race. That never happens in the sandbox, which takes
 * milliseconds.
 */
const SECOND_REQUEST = {
  external: { waitMs: 30_000, lookUpsMs: [22_000, 28_000] },
  sandbox: { waitMs: 4_000, lookUpsMs: [1_000] },
};

/** What a repeated request needs to say to get the answer of the first one. */
export type RepeatedBooking = Pick<
  WantedBooking,
  "owner" | "widgetId" | "connectionId" | "idempotencyKey" | "serviceId" | "startAt"
> & { copy: Pick<PendingCopy, "timeZone"> };

export async function makeBooking(
  deps: MakeDeps,
  system: SchedulingSystem,
  wanted: WantedBooking,
): Promise<MadeBooking> {
  for (;;) {
    const reserved = await reserve(deps, wanted);
    if (reserved.kind === "reserved") return await makeFirst(deps, system, { wanted, reference: reserved.reference });
    const known = await answerAgain(deps, system, wanted);
    if (known.kind !== "unused") return known;
    if (reserved.kind === "closed") return reserved;
  }
}

async function makeFirst(
  deps: MakeDeps,
  system: SchedulingSystem,
  { wanted, reference }: { wanted: WantedBooking; reference: Reference },
): Promise<MadeBooking> {
  const booking = { owner: wanted.owner, reference, widgetId: wanted.widgetId, touch: wanted.touch };
  const outcome = await ask(deps, system, { wanted, reference });
  switch (outcome.kind) {
    case "booked": {
      const { timeZone } = wanted.copy;
      const confirmed = { ...booking, timeZone, booked: outcome.booked, isTest: system.mode !== "live" };
      await deps.settler.confirm(confirmed);
      return { kind: "confirmed", answer: toAnswer(confirmed) };
    }
    case "unknown":
      // The task keeps looking. Until it knows, we neither confirm nor deny the booking.
      return { kind: "under_way" };
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
  let taken: Reference | null = null;
  const reserving = inOrganization(deps.db, wanted.owner, async (transaction): Promise<Reserved> => {
    const switches = await holdSwitches(transaction, wanted.owner, wanted.widgetId);
    if (switches?.status !== "active") return { kind: "closed", status: switches?.status ?? "deleted" };
    const reference = await takeReference(transaction, wanted.owner, deps.random);
    taken = reference;
    const now = deps.clock.now();
    const isNew = await insertPending(transaction, wanted.owner, {
      reference,
      widget_id: wanted.widgetId,
      asked_in: wanted.connectionId ?? "sandbox",
      keyHash: hashKey(wanted),
      service_id: wanted.serviceId,
      start_at: wanted.startAt,
      askingUntil: new Date(now.getTime() + ASKING_MS),
      given_up_at: new Date(now.getTime() + SEARCH_MS),
      touch: wanted.touch,
      copy: switches.storesBookings ? wanted.copy : null,
      now,
    });
    if (isNew) return { kind: "reserved", reference };
    await freeReferences(transaction, wanted.owner, [reference]);
    return { kind: "used_before" };
  });
  try {
    return await reserving;
  } catch (error) {
    // The row may exist, if only the answer to the commit was lost. Nobody asks for it, so a repeated key must not wait for it.
    if (taken !== null) deps.settler.withdraw({ owner: wanted.owner, widgetId: wanted.widgetId, reference: taken });
    throw error;
  }
}

type Asked = { kind: "booked"; booked: Booked } | { kind: "failed"; failure: BookingFailure } | { kind: "unknown" };

async function ask(
  { metrics }: MakeDeps,
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
  for (const pauseMs of LOOK_UP_PAUSES_MS) {
    await pause(pauseMs);
    const found = await system.findByReference({ reference, serviceId, startAt });
    if (found.kind === "found") return { kind: "booked", booked: found.value };
    // `absent` means the system searched and found nothing. At once is too early: it may still be writing the booking.
    if (found.kind === "absent" && pauseMs > 0) return { kind: "failed", failure: "lost" };
    // The sandbox is in our own database, so making the visitor wait doesn't help.
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

/**
 * The same key gives the same response; while the first request is in progress, the second one waits for it. `unused`: there was
 * no first request, or it was withdrawn before the scheduling system was asked.
 */
export async function answerAgain(
  deps: MakeDeps,
  system: SchedulingSystem,
  wanted: RepeatedBooking,
): Promise<MadeBooking | { kind: "unused" }> {
  const key = { widgetId: wanted.widgetId, keyHash: hashKey(wanted) };
  const { waitMs, lookUpsMs } = SECOND_REQUEST[system.kind === "sandbox" ? "sandbox" : "external"];
  for (let waitedMs = 0; waitedMs <= waitMs; waitedMs += SECOND_REQUEST_PAUSE_MS) {
    const pending = await findPendingByKey(deps.db, wanted.owner, key);
    if (!pending) return { kind: "unused" };
    if (pending.service_id !== wanted.serviceId || pending.start_at.getTime() !== wanted.startAt.getTime())
      return { kind: "key_reused" };
    if (pending.state === "confirmed")
      return { kind: "confirmed", answer: await recallAnswer(system, { wanted, pending }) };
    if (pending.failure) return { kind: "failed", failure: pending.failure };
    const found = lookUpsMs.includes(waitedMs) ? await lookUp(deps, system, { wanted, pending }) : null;
    if (found) return found;
    await pause(SECOND_REQUEST_PAUSE_MS);
  }
  return { kind: "under_way" };
}

/** Like `answerAgain`, but a key that is unused can't be used any more: a request with it that arrives later fails. */
export async function abandonBooking(
  deps: MakeDeps,
  system: SchedulingSystem,
  wanted: RepeatedBooking,
): Promise<MadeBooking> {
  for (;;) {
    if (await recordAbandoned(deps, wanted)) return { kind: "failed", failure: "unavailable" };
    const known = await answerAgain(deps, system, wanted);
    if (known.kind !== "unused") return known;
  }
}

async function recordAbandoned({ db, clock, random }: MakeDeps, wanted: RepeatedBooking): Promise<boolean> {
  const { owner, widgetId, connectionId, serviceId, startAt } = wanted;
  return await inOrganization(db, owner, async (transaction) => {
    const reference = await takeReference(transaction, owner, random);
    const isNew = await insertAbandoned(transaction, owner, {
      reference,
      widget_id: widgetId,
      asked_in: connectionId ?? "sandbox",
      keyHash: hashKey(wanted),
      service_id: serviceId,
      start_at: startAt,
      now: clock.now(),
    });
    if (!isNew) await freeReferences(transaction, owner, [reference]);
    return isNew;
  });
}

function hashKey({ idempotencyKey }: Pick<WantedBooking, "idempotencyKey">): Buffer {
  return createHash("sha256").update(idempotencyKey).digest();
}

/** Null when the booking is not there yet. Only the first request's process, or later a task, may conclude that it failed. */
async function lookUp(
  deps: MakeDeps,
  system: SchedulingSystem,
  { wanted, pending }: { wanted: RepeatedBooking; pending: PendingBooking },
): Promise<MadeBooking | null> {
  if (pending.asked_in !== (wanted.connectionId ?? "sandbox")) return null;
  const { reference, touch } = pending;
  const { owner, widgetId, serviceId, startAt } = wanted;
  const found = await system.findByReference({ reference, serviceId, startAt });
  if (found.kind !== "found") return null;
  const timeZone = pending.copy?.timeZone ?? wanted.copy.timeZone;
  const confirmed = {
    owner,
    reference,
    widgetId,
    touch,
    timeZone,
    booked: found.value,
    isTest: system.mode !== "live",
  };
  await deps.settler.confirm(confirmed);
  return { kind: "confirmed", answer: toAnswer(confirmed) };
}

/**
 * The answer to a repeated key. With Store bookings off none is recorded, so the scheduling system is asked for the appointment. If
 * it doesn't answer, or if the booking was erased, the answer has only what the row and the repeated request say.
 */
async function recallAnswer(
  system: SchedulingSystem,
  { wanted, pending }: { wanted: RepeatedBooking; pending: PendingBooking },
): Promise<BookAnswer> {
  const { reference } = pending;
  const { serviceId, startAt } = wanted;
  const { timeZone } = wanted.copy;
  // Version 1.1 recorded some answers without a time zone. They are deleted after a day.
  if (pending.answer) return { ...pending.answer, timeZone: pending.answer.timeZone ?? timeZone };
  const known = toKnownAnswer({ reference, serviceId, startAt, timeZone });
  if (pending.erased) return { ...known, isErased: true };
  const found = await system.findByReference({ reference, serviceId, startAt });
  return found.kind === "found" ? toAnswer({ reference, booked: found.value, timeZone }) : known;
}

function toKnownAnswer({ reference, serviceId, startAt, timeZone }: Sought & { timeZone: string }): BookAnswer {
  return {
    reference,
    status: BOOKING_STATUS_CONFIRMED,
    start: startAt.toISOString(),
    timeZone,
    service: { id: serviceId },
    staff: [],
    joinUrl: null,
  };
}
