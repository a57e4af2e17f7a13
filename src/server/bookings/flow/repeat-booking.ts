import { createHash } from "node:crypto";
import { BOOKING_STATUS_CONFIRMED } from "#contract/bookings/booking.ts";
import type { ConnectionId, OrganizationId, WidgetId } from "#contract/ids.ts";
import type { BookResponse } from "#contract/widgets/embed-api.ts";
import type { Deps } from "../../deps.ts";
import { pause } from "../../lib/concurrency/pause.ts";
import type { Lookup, SchedulerLimits, SchedulingSystem } from "../../scheduler/scheduler.ts";
import { freeReferences } from "../stored/queries.ts";
import {
  type BookingFailure,
  findEarlier,
  findPending,
  insertAbandoned,
  type PendingBooking,
  type PendingCopy,
  type PendingHit,
} from "./pending-queries.ts";
import { takeReference } from "./reference.ts";
import { toBookResponse } from "./settle-booking.ts";
import type { Settler } from "./settler.ts";

// A request whose key, or whose visit and service, an earlier booking has: it waits for that one and gets its response.

export type MakeDeps = Pick<Deps, "db" | "clock" | "random" | "metrics"> & {
  readonly settler: Settler;
  readonly scheduler: { readonly limits: Pick<SchedulerLimits, "bookMs"> };
};

export type MadeBooking =
  | { kind: "confirmed"; response: BookResponse }
  | { kind: "failed"; failure: BookingFailure }
  /** The key was used for another slot or service. */
  | { kind: "key_reused" }
  /** It may have been booked: the outcome of this request, or of an earlier one that it waits for, is not known yet. */
  | { kind: "uncertain" }
  /** The widget was paused, or deleted, since the request arrived. Nothing was booked. */
  | { kind: "closed"; status: "paused" | "deleted" };

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

/** What a repeated request needs to say to get the response of the first one. */
export type RepeatedBooking = {
  owner: OrganizationId;
  widgetId: WidgetId;
  /** Null: the sandbox. */
  connectionId: ConnectionId | null;
  idempotencyKey: string;
  serviceId: string;
  startAt: Date;
  copy: Pick<PendingCopy, "timeZone">;
  /** Without it, requests of the visit with other keys don't count. */
  hit?: Pick<PendingHit, "visitId">;
};

/**
 * The same key gives the same response. While an earlier request, with this key or of the same visit for the same service, is in
 * progress or uncertain, this one waits for it; if that one was booked, this one gets its booking. `unused`: there is no such
 * request, it failed with another key, or it was withdrawn before the scheduling system was asked.
 */
export async function respondAgain(
  deps: MakeDeps,
  system: SchedulingSystem,
  wanted: RepeatedBooking,
): Promise<MadeBooking | { kind: "unused" }> {
  const { owner, widgetId, hit } = wanted;
  const visitHash = hit ? hashVisit({ ...wanted, hit }) : null;
  const earlier = await findEarlier(deps.db, owner, { widgetId, keyHash: hashKey(wanted), visitHash });
  if (!earlier) return { kind: "unused" };
  const { waitMs, lookUpsMs } = toPatience(system, deps.scheduler.limits.bookMs);
  for (let waitedMs = 0; waitedMs <= waitMs; waitedMs += SECOND_REQUEST_PAUSE_MS) {
    const pending = await findPending(deps.db, owner, earlier.reference);
    if (!pending) return { kind: "unused" };
    if (earlier.hasSameKey && !isFor(pending, wanted)) return { kind: "key_reused" };
    if (pending.state === "confirmed")
      return { kind: "confirmed", response: await recallResponse(system, { wanted, pending }) };
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

/** Like `respondAgain`, but a key that is unused can't be used any more: a request with it that arrives later fails. */
export async function abandonBooking(
  deps: MakeDeps,
  system: SchedulingSystem,
  wanted: RepeatedBooking,
): Promise<MadeBooking> {
  for (;;) {
    const known = await respondAgain(deps, system, wanted);
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

export function hashKey({ idempotencyKey }: Pick<RepeatedBooking, "idempotencyKey">): Buffer {
  return createHash("sha256").update(idempotencyKey).digest();
}

export function hashVisit({
  widgetId,
  serviceId,
  hit,
}: Pick<RepeatedBooking, "widgetId" | "serviceId"> & Required<Pick<RepeatedBooking, "hit">>): Buffer {
  return createHash("sha256")
    .update(JSON.stringify([widgetId, serviceId, hit.visitId]))
    .digest();
}

/** Null when the booking is not there yet. Only the first request's process, or later a task, may conclude that it failed. */
async function lookUp(
  deps: MakeDeps,
  system: SchedulingSystem,
  { wanted, pending }: { wanted: RepeatedBooking; pending: PendingBooking },
): Promise<MadeBooking | null> {
  if (pending.asked_in !== (wanted.connectionId ?? "sandbox")) return null;
  const { reference, hit, service_id: serviceId, start_at: startAt } = pending;
  const { owner, widgetId } = wanted;
  const found = await system.findByReference({ reference, serviceId, startAt });
  if (found.kind !== "found") return null;
  const timeZone = pending.copy?.timeZone ?? wanted.copy.timeZone;
  const confirmed = {
    owner,
    reference,
    widgetId,
    hit,
    timeZone,
    booked: found.value,
    isTest: system.mode !== "live",
  };
  await deps.settler.confirm(confirmed);
  return { kind: "confirmed", response: toBookResponse(confirmed) };
}

/**
 * The response to a repeated key. With Store bookings off none is recorded, so the scheduling system is asked for the appointment. If
 * it doesn't answer, or if the booking was erased, the response has only what the row and the repeated request say.
 */
async function recallResponse(
  system: SchedulingSystem,
  { wanted, pending }: { wanted: RepeatedBooking; pending: PendingBooking },
): Promise<BookResponse> {
  const { reference, service_id: serviceId, start_at: startAt } = pending;
  const { timeZone } = wanted.copy;
  // Version 1.1 recorded some responses without a time zone. They are deleted soon after the upgrade.
  if (pending.response) return { ...pending.response, timeZone: pending.response.timeZone ?? timeZone };
  const known = toKnownResponse({ reference, serviceId, startAt, timeZone });
  if (pending.erased) return { ...known, isErased: true };
  const found = await system.findByReference({ reference, serviceId, startAt });
  return found.kind === "found" ? toBookResponse({ reference, booked: found.value, timeZone }) : known;
}

function toKnownResponse({ reference, serviceId, startAt, timeZone }: Lookup & { timeZone: string }): BookResponse {
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
