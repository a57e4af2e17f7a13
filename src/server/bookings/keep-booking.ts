import type { OrganizationId } from "#contract/ids.ts";
import type { Db } from "../db/pool.ts";
import type { Deps } from "../deps.ts";
import { fanOut, fanOutSafely } from "../webhooks/outbox.ts";
import { findBookingContext, listBookingsLackingEvent, markHasEvent } from "./event-queries.ts";
import { type NewBooking, storeBooking } from "./store-booking.ts";
import { toBookingFacts } from "./to-booking-facts.ts";

type KeepDeps = Pick<Deps, "random" | "log" | "clock">;

/** Bookings that one run of the task finishes at most. */
const LACKING_BATCH = 200;

/**
 * Keeps the copy of a confirmed booking and, in the same transaction, its webhook event with a delivery per endpoint. No
 * fault of the latter can fail the former. Returns the booking's createdAt.
 */
export async function keepBooking(
  deps: KeepDeps,
  transaction: Db,
  { owner, booking }: { owner: OrganizationId; booking: NewBooking },
): Promise<Date> {
  const context = await findBookingContext(transaction, owner, booking.widget_id);
  const now = deps.clock.now();
  const facts = toBookingFacts(booking, context);
  const hasEvent = await fanOutSafely(deps, transaction, { booking: facts, plan: context.plan, now });
  return await storeBooking(transaction, owner, { booking: { ...booking, lacks_event: !hasEvent }, now });
}

/** Background task: writes the events that could not be written with their bookings. */
export async function finishLackingEvents(deps: KeepDeps & Pick<Deps, "db">, signal: AbortSignal): Promise<void> {
  for (const { organization_id: owner, ...booking } of await listBookingsLackingEvent(deps.db, LACKING_BATCH)) {
    if (signal.aborted) return;
    await deps.db.transaction().execute(async (transaction) => {
      // Another worker may have finished it by now; the row's lock decides.
      if (!(await markHasEvent(transaction, owner, booking.reference))) return;
      const context = await findBookingContext(transaction, owner, booking.widget_id);
      const facts = toBookingFacts(booking, context);
      await fanOut(deps, transaction, { booking: facts, plan: context.plan, now: deps.clock.now() });
    });
  }
}
