import { BOOKING_STATUS_CANCELLED, BOOKING_STATUS_CONFIRMED } from "#contract/bookings/booking.ts";
import type { ChangeType } from "#contract/bookings/booking-changes.ts";
import type { OrganizationId, Reference, WidgetId } from "#contract/ids.ts";
import type { Db } from "../../db/connections/pool.ts";
import type { Deps } from "../../deps.ts";
import type { Followed } from "../../scheduler/scheduler.ts";
import { fanOut } from "../../webhooks/webhooks.ts";
import { holdSwitches } from "../../widgets/widgets.ts";
import { toBookingFacts } from "../flow/keep-booking.ts";
import type { BookingRow } from "../stored/queries.ts";
import { lockForChange, recordChange, updateBooking } from "./change-queries.ts";

/** `later`: nothing may be written now. `stale`: something has happened since the appointment was read. */
type Applied = "changed" | "unchanged" | "gone" | "later" | "stale";

type NewState = {
  owner: OrganizationId;
  reference: Reference;
  widgetId: WidgetId;
  now: Followed;
  /** Called once the booking is locked; false if what was read is stale. */
  claim: () => Promise<boolean>;
};

/**
 * Brings a stored booking to what the scheduling system says of its appointment, in the caller's transaction. The reference and
 * createdAt stay for life; a booking that was deleted stays deleted, and nothing is written while its widget doesn't store bookings.
 * The change's webhook event is written with it: if that fails, the transaction has to be repeated. Call it last in the transaction,
 * and `wakeWorkers` after the commit.
 */
export async function applyChange(
  deps: Pick<Deps, "clock" | "random">,
  transaction: Db,
  { owner, reference, widgetId, now, claim }: NewState,
): Promise<Applied> {
  const switches = await holdSwitches(transaction, owner, widgetId);
  if (!switches?.storesBookings) return "later";
  const before = await lockForChange(transaction, owner, reference);
  if (before === null) return "gone";
  // Its booking.created is written first.
  if (before.lacks_event) return "later";
  if (!(await claim())) return "stale";
  const after = toChanged(before, now);
  const type = toChangeType(before, after);
  if (type === null && after.external_id === before.external_id) return "unchanged";
  await updateBooking(transaction, owner, after);
  if (type === null) return "unchanged";
  await fanOut(deps, transaction, {
    owner,
    booking: toBookingFacts(after),
    occasion:
      type === "cancelled"
        ? { type: "booking.cancelled" }
        : { type: "booking.rescheduled", previousStartAt: before.start_at },
    now: deps.clock.now(),
  });
  await recordChange(transaction, owner, { change: { type, before, after }, clock: deps.clock });
  return "changed";
}

function toChanged(row: BookingRow, now: Followed): BookingRow {
  if (now.kind === "cancelled") return { ...row, status: BOOKING_STATUS_CANCELLED };
  return {
    ...row,
    status: BOOKING_STATUS_CONFIRMED,
    start_at: now.startAt,
    end_at: now.endAt,
    external_id: now.externalId,
    manage_url: now.manageUrl,
    join_url: now.joinUrl,
  };
}

/** A cancelled appointment that exists again was given another time. */
function toChangeType(before: BookingRow, after: BookingRow): ChangeType | null {
  if (after.status === BOOKING_STATUS_CANCELLED) return before.status === after.status ? null : "cancelled";
  const isSame =
    before.status === after.status &&
    before.start_at.getTime() === after.start_at.getTime() &&
    before.end_at.getTime() === after.end_at.getTime();
  return isSame ? null : "rescheduled";
}
