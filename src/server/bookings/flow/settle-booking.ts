import type { BookAnswer } from "#contract/book.ts";
import { BOOKING_STATUS_CONFIRMED } from "#contract/booking.ts";
import type { OrganizationId, Reference, WidgetId } from "#contract/ids.ts";
import type { Deps } from "../../deps.ts";
import { recordTouches } from "../../funnel/record/record.ts";
import { type Touch, toStepBit } from "../../funnel/record/touch.ts";
import type { Booked } from "../../scheduler/scheduling-system.ts";
import { wakeWorkers } from "../../webhooks/outbox/wake-workers.ts";
import { readCollectData } from "../../widgets/bookable-widget.ts";
import { keepBooking } from "./keep-booking.ts";
import { type BookingFailure, type PendingCopy, type PendingTouch, settlePending } from "./pending-queries.ts";

// What follows from the scheduling system's word, each in one transaction and at most once per request: a confirmed booking
// is counted, kept where bookings were stored when it was asked for and still are, and sent; a failed one is counted.

type SettleDeps = Pick<Deps, "db" | "clock" | "random" | "log" | "metrics">;

export type BookingToSettle = {
  owner: OrganizationId;
  reference: Reference;
  widgetId: WidgetId;
  touch: PendingTouch;
};

/** Returns the answer to the visitor. */
export async function settleConfirmed(
  deps: SettleDeps,
  about: BookingToSettle & { booked: Booked; timeZone: string },
): Promise<BookAnswer> {
  const { owner, reference, booked } = about;
  const answer = toAnswer(about);
  const settled = await deps.db.transaction().execute(async (transaction) => {
    const now = deps.clock.now();
    const pending = await settlePending(transaction, owner, { reference, now, state: "confirmed", answer });
    if (!pending) return "before";
    await recordTouches(
      transaction,
      [toTouch(about, { now, step: "booking_completed", startAt: booked.startAt })],
      "every",
    );
    // The one gate: without the switch nothing about the customer is written anywhere.
    const isStored = await readCollectData(transaction, owner, about.widgetId);
    if (!isStored || !pending.copy) return "counted";
    await keepBooking(deps, transaction, { owner, booking: toStoredBooking(about, pending.copy) });
    return "kept";
  });
  if (settled !== "before") deps.metrics.bookings.inc({ outcome: "confirmed" });
  // Not waited for: the visitor is.
  if (settled === "kept") void wakeWorkers(deps);
  return answer;
}

export async function settleFailed(
  deps: SettleDeps,
  about: BookingToSettle & { failure: BookingFailure },
): Promise<void> {
  const { owner, reference, failure } = about;
  const isSettled = await deps.db.transaction().execute(async (transaction) => {
    const now = deps.clock.now();
    if (!(await settlePending(transaction, owner, { reference, now, state: "failed", failure }))) return false;
    await recordTouches(transaction, [toTouch(about, { now, step: "booking_failed", startAt: null })], "every");
    return true;
  });
  if (isSettled) deps.metrics.bookings.inc({ outcome: failure });
}

export function toAnswer(about: { reference: Reference; booked: Booked; timeZone: string }): BookAnswer {
  const { booked } = about;
  return {
    reference: about.reference,
    status: BOOKING_STATUS_CONFIRMED,
    start: booked.startAt.toISOString(),
    end: booked.endAt.toISOString(),
    timeZone: about.timeZone,
    service: { id: booked.service.id, name: booked.service.name },
    staff: booked.staff.map(({ id, name }) => ({ id, name })),
    ...(booked.manageUrl === null ? {} : { manageUrl: booked.manageUrl }),
    joinUrl: booked.joinUrl,
  };
}

function toStoredBooking(about: BookingToSettle & { booked: Booked }, copy: PendingCopy) {
  const { booked } = about;
  return {
    reference: about.reference,
    widget_id: about.widgetId,
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
  };
}

function toTouch(
  { widgetId, reference, touch }: BookingToSettle,
  outcome: { now: Date; step: "booking_completed" | "booking_failed"; startAt: Date | null },
): Touch {
  return {
    ...touch,
    widgetId,
    at: outcome.now,
    steps: toStepBit(outcome.step),
    conversion: { step: outcome.step, key: reference, startAt: outcome.startAt },
  };
}
