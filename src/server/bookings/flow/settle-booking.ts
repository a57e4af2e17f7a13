import { BOOKING_STATUS_CONFIRMED } from "#contract/bookings/booking.ts";
import { SECOND_MS } from "#contract/durations.ts";
import { BASE58, type OrganizationId, type Reference, type WidgetId } from "#contract/ids.ts";
import type { BookResponse } from "#contract/widgets/embed-api.ts";
import { type Conversion, type Hit, keepStoredKeys, recordHits, toStepBit } from "../../analytics/analytics.ts";
import { inHome } from "../../db/statements/transactions.ts";
import type { Deps } from "../../deps.ts";
import { randomText } from "../../lib/secrets/random.ts";
import type { Booked } from "../../scheduler/scheduler.ts";
import { wakeWorkers } from "../../webhooks/webhooks.ts";
import { freeReferences } from "../stored/queries.ts";
import { keepBooking } from "./keep-booking.ts";
import {
  type BookingFailure,
  deleteAsking,
  type PendingBooking,
  type PendingCopy,
  type PendingHit,
  releaseAsking,
  settlePending,
} from "./pending-queries.ts";

// What follows from the scheduling system's reply, in one transaction and at most once per request. A confirmed booking is
// counted; if Store bookings was on when it was requested and still is, it is also stored and sent to the webhooks. A failed
// booking is counted.

const CONVERSION_KEY_LENGTH = 12;
/** When the task first looks for a booking whose outcome is uncertain. */
const FIRST_LOOK_UP_MS = 5 * SECOND_MS;

export type SettleDeps = Pick<Deps, "db" | "clock" | "random" | "log" | "metrics">;

export type BookingToSettle = {
  owner: OrganizationId;
  reference: Reference;
  widgetId: WidgetId;
  hit: PendingHit;
};

export type ConfirmedBooking = BookingToSettle & {
  booked: Booked;
  timeZone: string;
  /** Made in test mode. */
  isTest: boolean;
};

export async function settleConfirmed(deps: SettleDeps, confirmed: ConfirmedBooking): Promise<void> {
  const { owner, reference, widgetId, booked } = confirmed;
  const response = toBookResponse(confirmed);
  const deliveries = await inHome(deps.db, owner, async (transaction) => {
    const now = deps.clock.now();
    const outcome = { reference, widgetId, now, state: "confirmed", response } as const;
    const pending = await settlePending(transaction, owner, outcome);
    if (!pending) return null;
    const outcomeOfVisit = {
      step: "booking_completed",
      startAt: booked.startAt,
      service: booked.service.name,
    } as const;
    await recordHits(transaction, [toHit(deps, confirmed, { now, ...outcomeOfVisit })], { includePaused: true });
    if (!pending.copy) return [];
    const booking = toStoredBooking(confirmed, { copy: pending.copy, askedIn: pending.asked_in });
    return await keepBooking(deps, transaction, { owner, booking });
  });
  // It was settled already.
  if (deliveries === null) return;
  deps.metrics.bookings.inc({ outcome: "confirmed" });
  // Not awaited: the visitor is waiting for the response.
  if (deliveries.length > 0) void wakeWorkers(deps, owner, deliveries);
}

export type FailedBooking = BookingToSettle & { failure: BookingFailure };

export async function settleFailed(deps: SettleDeps, failed: FailedBooking): Promise<void> {
  const { owner, reference, widgetId, failure } = failed;
  const isSettled = await inHome(deps.db, owner, async (transaction) => {
    const now = deps.clock.now();
    if (!(await settlePending(transaction, owner, { reference, widgetId, now, state: "failed", failure })))
      return false;
    // Failing costs a stranger nothing, so it adds no sources, campaigns or pages.
    const hit = toHit(deps, failed, { now, step: "booking_failed", startAt: null });
    await recordHits(transaction, [await keepStoredKeys(transaction, owner, hit)], { includePaused: true });
    return true;
  });
  if (isSettled) deps.metrics.bookings.inc({ outcome: failure });
}

export async function leaveToTask(
  { db, clock }: SettleDeps,
  { owner, reference }: Pick<BookingToSettle, "owner" | "reference">,
): Promise<void> {
  const askingUntil = new Date(clock.now().getTime() + FIRST_LOOK_UP_MS);
  await releaseAsking(db, owner, { reference, askingUntil });
}

export async function withdraw(
  { db }: SettleDeps,
  { owner, reference }: Pick<BookingToSettle, "owner" | "reference">,
): Promise<void> {
  await deleteAsking(db, owner, reference);
  await freeReferences(db, owner, [reference]);
}

export function toBookResponse({
  reference,
  booked,
  timeZone,
}: Pick<ConfirmedBooking, "reference" | "booked" | "timeZone">): BookResponse {
  return {
    reference,
    status: BOOKING_STATUS_CONFIRMED,
    start: booked.startAt.toISOString(),
    end: booked.endAt.toISOString(),
    timeZone,
    service: { id: booked.service.id, name: booked.service.name },
    staff: booked.staff.map(({ id, name }) => ({ id, name })),
    ...(booked.manageUrl === null ? {} : { manageUrl: booked.manageUrl }),
    ...(booked.cancelUrl === undefined ? {} : { cancelUrl: booked.cancelUrl }),
    joinUrl: booked.joinUrl,
  };
}

function toStoredBooking(
  { reference, widgetId, booked, isTest }: ConfirmedBooking,
  { copy, askedIn }: { copy: PendingCopy; askedIn: PendingBooking["asked_in"] },
) {
  return {
    reference,
    widget_id: widgetId,
    status: BOOKING_STATUS_CONFIRMED,
    start_at: booked.startAt,
    end_at: booked.endAt,
    time_zone: copy.timeZone,
    service_id: booked.service.id,
    service_name: booked.service.name,
    staff: JSON.stringify(booked.staff),
    customer_name: copy.customer.name,
    customer_email: copy.customer.email,
    customer_phone: copy.customer.phone,
    customer_notes: copy.customer.notes,
    answers: JSON.stringify(copy.answers),
    attribution: JSON.stringify(copy.attribution),
    external_id: booked.externalId,
    manage_url: booked.manageUrl,
    join_url: booked.joinUrl,
    is_test: isTest,
    asked_in: askedIn,
  };
}

/** Settling is what happens once, so the key can be random: nothing leads from the visit to the booking. */
function toHit(
  { random }: Pick<Deps, "random">,
  { owner, widgetId, hit }: BookingToSettle,
  { now, ...outcome }: { now: Date } & Omit<Conversion, "key">,
): Hit {
  return {
    ...hit,
    organizationId: owner,
    widgetId,
    at: now,
    steps: toStepBit(outcome.step),
    conversion: { ...outcome, key: randomText(random, BASE58, CONVERSION_KEY_LENGTH) },
  };
}
