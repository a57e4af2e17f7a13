import { createHash } from "node:crypto";
import type { BookAnswer } from "#contract/book.ts";
import { BOOKING_STATUS_CONFIRMED } from "#contract/booking.ts";
import { DAY_MS, MINUTE_MS } from "#contract/durations.ts";
import type { ConnectionId, OrganizationId, Reference, WidgetId } from "#contract/ids.ts";
import type { Deps } from "../../deps.ts";
import { pause } from "../../lib/concurrency/pause.ts";
import type { Booked, BookOutcome, Lookup, SchedulerLimits, SchedulingSystem } from "../../scheduler/scheduler.ts";
import { freeReferences } from "../stored/queries.ts";
import {
  type BookingFailure,
  findEarlier,
  findPending,
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
//   reserve      a reference, and then a pending row, before the scheduling system is asked; a repeated key finds that row
//   ask          the scheduling system books, with the reference in its notes
//   look up      if its reply was lost, search for the reference; never ask twice. Not finding it proves nothing: the system may
//                still be working. The outcome is uncertain then, and a task keeps looking (settle-overdue.ts). Until it knows,
//                the same request, and any other of the visit for the service, waits
//   settle       one transaction: count, store and send the booking, or count the failure
//   answer       what the scheduling system said, even if settling failed; it is tried again (settler.ts), and if this process
//                ends, a task settles the booking (settle-overdue.ts)

type MakeDeps = Pick<Deps, "db" | "clock" | "random" | "metrics"> & {
  readonly settler: Settler;
  readonly scheduler: { readonly limits: Pick<SchedulerLimits, "bookMs"> };
};

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
  /** It may have been booked: the outcome of this request, or of an earlier one that it waits for, is not known yet. */
  | { kind: "uncertain" }
  /** The widget was paused, or deleted, since the request arrived. Nothing was booked. */
  | { kind: "closed"; status: "paused" | "deleted" };

/** More than asking and looking up take together. After it, a task takes over. */
const ASKING_MS = MINUTE_MS;
/** How long we search in a system that doesn't answer before calling it a failure. */
export const SEARCH_MS = DAY_MS;
/** When the visitor's request looks for a lost booking: at once, 2 and 7 seconds after the 20 seconds that booking may take. */
const LOOK_UP_PAUSES = [0, 0.1, 0.25];
const SECOND_REQUEST_PAUSE_MS = 250;

/**
 * How long a second request waits, and when it looks the booking up: the process that got the first request may have ended after
 * the scheduling system confirmed it. While the first request can still be booking, an appointment proves nothing, because it is
 * cancelled again if it lost a race. That never happens in the sandbox, which takes milliseconds.
 */
function toPatience({ kind }: SchedulingSystem, bookMs: number): { waitMs: number; lookUpsMs: number[] } {
  if (kind === "sandbox") return { waitMs: 4_000, lookUpsMs: [1_000] };
  return { waitMs: 1.5 * bookMs, lookUpsMs: [1.1 * bookMs, 1.4 * bookMs] };
}

/** What a repeated request needs to say to get the answer of the first one. */
export type RepeatedBooking = Pick<
  WantedBooking,
  "owner" | "widgetId" | "connectionId" | "idempotencyKey" | "serviceId" | "startAt"
> & {
  copy: Pick<PendingCopy, "timeZone">;
  /** Without it, requests of the visit with other keys don't count. */
  touch?: Pick<PendingTouch, "visitId">;
};

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
    given_up_at: new Date(now.getTime() + SEARCH_MS),
    touch: wanted.touch,
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
    // The row may exist, if only the answer to the commit was lost. Nobody asks for it, so a repeated key must not wait for it.
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

/**
 * The same key gives the same response. While an earlier request, with this key or of the same visit for the same service, is in
 * progress or uncertain, this one waits for it; if that one was booked, this one gets its booking. `unused`: there is no such
 * request, it failed with another key, or it was withdrawn before the scheduling system was asked.
 */
export async function answerAgain(
  deps: MakeDeps,
  system: SchedulingSystem,
  wanted: RepeatedBooking,
): Promise<MadeBooking | { kind: "unused" }> {
  const { owner, widgetId, touch } = wanted;
  const visitHash = touch ? hashVisit({ ...wanted, touch }) : null;
  const earlier = await findEarlier(deps.db, owner, { widgetId, keyHash: hashKey(wanted), visitHash });
  if (!earlier) return { kind: "unused" };
  const { waitMs, lookUpsMs } = toPatience(system, deps.scheduler.limits.bookMs);
  for (let waitedMs = 0; waitedMs <= waitMs; waitedMs += SECOND_REQUEST_PAUSE_MS) {
    const pending = await findPending(deps.db, owner, earlier.reference);
    if (!pending) return { kind: "unused" };
    if (earlier.hasSameKey && !isFor(pending, wanted)) return { kind: "key_reused" };
    if (pending.state === "confirmed")
      return { kind: "confirmed", answer: await recallAnswer(system, { wanted, pending }) };
    if (pending.failure) return earlier.hasSameKey ? { kind: "failed", failure: pending.failure } : { kind: "unused" };
    const isDue = lookUpsMs[0] !== undefined && waitedMs >= lookUpsMs[0] && lookUpsMs.shift();
    const found = isDue ? await lookUp(deps, system, { wanted, pending }) : null;
    if (found) return found;
    await pause(SECOND_REQUEST_PAUSE_MS);
  }
  return { kind: "uncertain" };
}

function isFor(pending: PendingBooking, { serviceId, startAt }: RepeatedBooking): boolean {
  return pending.service_id === serviceId && pending.start_at.getTime() === startAt.getTime();
}

/** Like `answerAgain`, but a key that is unused can't be used any more: a request with it that arrives later fails. */
export async function abandonBooking(
  deps: MakeDeps,
  system: SchedulingSystem,
  wanted: RepeatedBooking,
): Promise<MadeBooking> {
  for (;;) {
    const known = await answerAgain(deps, system, wanted);
    if (known.kind !== "unused") return known;
    if (await recordAbandoned(deps, wanted)) return { kind: "failed", failure: "unavailable" };
  }
}

async function recordAbandoned({ db, clock, random }: MakeDeps, wanted: RepeatedBooking): Promise<boolean> {
  const { owner, widgetId, connectionId, serviceId, startAt } = wanted;
  const reference = await takeReference(db, owner, random);
  const abandoned = {
    reference,
    widget_id: widgetId,
    asked_in: connectionId ?? "sandbox",
    keyHash: hashKey(wanted),
    service_id: serviceId,
    start_at: startAt,
    now: clock.now(),
  } as const;
  const isNew = await insertAbandoned(db, owner, abandoned);
  if (!isNew) await freeReferences(db, owner, [reference]);
  return isNew;
}

function hashKey({ idempotencyKey }: Pick<WantedBooking, "idempotencyKey">): Buffer {
  return createHash("sha256").update(idempotencyKey).digest();
}

function hashVisit({
  widgetId,
  serviceId,
  touch,
}: Pick<WantedBooking, "widgetId" | "serviceId"> & Required<Pick<RepeatedBooking, "touch">>): Buffer {
  return createHash("sha256")
    .update(JSON.stringify([widgetId, serviceId, touch.visitId]))
    .digest();
}

/** Null when the booking is not there yet. Only the first request's process, or later a task, may conclude that it failed. */
async function lookUp(
  deps: MakeDeps,
  system: SchedulingSystem,
  { wanted, pending }: { wanted: RepeatedBooking; pending: PendingBooking },
): Promise<MadeBooking | null> {
  if (pending.asked_in !== (wanted.connectionId ?? "sandbox")) return null;
  const { reference, touch, service_id: serviceId, start_at: startAt } = pending;
  const { owner, widgetId } = wanted;
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
  const { reference, service_id: serviceId, start_at: startAt } = pending;
  const { timeZone } = wanted.copy;
  // Version 1.1 recorded some answers without a time zone. They are deleted soon after the upgrade.
  if (pending.answer) return { ...pending.answer, timeZone: pending.answer.timeZone ?? timeZone };
  const known = toKnownAnswer({ reference, serviceId, startAt, timeZone });
  if (pending.erased) return { ...known, isErased: true };
  const found = await system.findByReference({ reference, serviceId, startAt });
  return found.kind === "found" ? toAnswer({ reference, booked: found.value, timeZone }) : known;
}

function toKnownAnswer({ reference, serviceId, startAt, timeZone }: Lookup & { timeZone: string }): BookAnswer {
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
