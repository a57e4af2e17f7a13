import type { DeletionReason } from "#contract/bookings/booking-changes.ts";
import type { OrganizationId, Reference, WidgetId } from "#contract/ids.ts";
import type { Db } from "../../../db/connections/pool.ts";
import { inHome } from "../../../db/statements/transactions.ts";
import type { Deps } from "../../../deps.ts";
import type { Random } from "../../../lib/secrets/random.ts";
import { deleteDeliveries, eraseDeliveries, fanOutErased } from "../../../webhooks/webhooks.ts";
import { recordDeletions } from "./deletion-queries.ts";
import {
  countBookingsOf,
  deleteBookings,
  erasePendingCopies,
  erasePendingResponses,
  type LockedBooking,
  lockBooking,
  lockBookingsOf,
  lockExpiredBookings,
} from "./erase-queries.ts";

// The only way stored bookings are deleted: in one transaction with everything the webhooks hold of them. The same
// transaction records the deletion and writes booking.erased, for whoever keeps copies. The scheduling system is not changed.

type EraseDeps = Pick<Deps, "db" | "clock" | "random">;

/** Deletes every stored booking of an email address, ignoring letter case and surrounding spaces; returns how many. */
export async function eraseBookingsByEmail(deps: EraseDeps, owner: OrganizationId, email: string): Promise<number> {
  return await inHome(deps.db, owner, async (transaction) => {
    await erasePendingCopies(transaction, owner, email.trim());
    const bookings = await lockBookingsOf(transaction, owner, email.trim());
    const erased = { bookings, reason: "erased", now: deps.clock.now(), random: deps.random } as const;
    return await eraseLocked(transaction, owner, erased);
  });
}

/** How many bookings erasing this address would delete. */
export async function countErasable(deps: Pick<Deps, "db">, owner: OrganizationId, email: string): Promise<number> {
  return await countBookingsOf(deps.db, owner, email.trim());
}

/** False if there is no such booking. */
export async function deleteBooking(deps: EraseDeps, owner: OrganizationId, reference: Reference): Promise<boolean> {
  return await inHome(deps.db, owner, async (transaction) => {
    const bookings = await lockBooking(transaction, owner, reference);
    const deleted = { bookings, reason: "deleted", now: deps.clock.now(), random: deps.random } as const;
    return (await eraseLocked(transaction, owner, deleted)) === 1;
  });
}

/**
 * Deletes the oldest bookings made before the cutoff, at most `limit` of them, and returns how many. Locked rows are left for
 * the next round, so this never waits, and it holds few rows for a short time, so nothing waits for it.
 */
export async function deleteExpiredBookings(
  db: Db,
  owner: OrganizationId,
  batch: { createdBefore: Date; limit: number; now: Date; random: Random },
): Promise<number> {
  return await inHome(db, owner, async (transaction) => {
    const bookings = await lockExpiredBookings(transaction, owner, batch);
    const { now, random } = batch;
    return await eraseLocked(transaction, owner, { bookings, reason: "expired", now, random });
  });
}

/**
 * Test bookings that the caller has locked: their deliveries go too, since nothing real is behind them. Those who keep copies
 * see the deletions in the read API; no event is sent.
 */
export async function deleteTestBookings(
  transaction: Db,
  owner: OrganizationId,
  { references, widgetId, now }: { references: readonly Reference[]; widgetId: WidgetId; now: Date },
): Promise<{ bookings: number; deliveries: number }> {
  if (references.length === 0) return { bookings: 0, deliveries: 0 };
  const deliveries = await deleteDeliveries(transaction, owner, references);
  await erasePendingResponses(transaction, owner, references);
  const count = await deleteBookings(transaction, owner, references);
  const bookings = references.map((reference) => ({ reference, widgetId }));
  await recordDeletions(transaction, owner, { bookings, reason: "deleted", now });
  return { bookings: count, deliveries };
}

async function eraseLocked(
  transaction: Db,
  owner: OrganizationId,
  locked: { bookings: readonly LockedBooking[]; reason: DeletionReason; now: Date; random: Random },
): Promise<number> {
  const { bookings, reason, now, random } = locked;
  if (bookings.length === 0) return 0;
  const references = bookings.map(({ reference }) => reference);
  await eraseDeliveries(transaction, owner, { references, now });
  await erasePendingResponses(transaction, owner, references);
  const count = await deleteBookings(transaction, owner, references);
  await fanOutErased({ random }, transaction, { owner, bookings, reason, now });
  await recordDeletions(transaction, owner, { bookings, reason, now });
  return count;
}
