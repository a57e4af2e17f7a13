import type { OrganizationId, Reference } from "#contract/ids.ts";
import type { Db } from "../../db/pool.ts";
import { withinTransaction } from "../../db/within-transaction.ts";
import type { Deps } from "../../deps.ts";
import { eraseDeliveries } from "../../webhooks/outbox/erase.ts";
import {
  countBookingsOf,
  deleteBookings,
  erasePendingAnswers,
  erasePendingCopies,
  lockBooking,
  lockBookingsOf,
  lockExpiredBookings,
} from "./erase-queries.ts";

// The only code that deletes stored bookings, in one transaction with everything the webhooks hold about them. The external
// system is not changed.

type EraseDeps = Pick<Deps, "db" | "clock">;

/** Deletes every stored booking of an e-mail address, ignoring letter case and surrounding spaces; returns how many. */
export async function eraseBookingsByEmail(deps: EraseDeps, owner: OrganizationId, email: string): Promise<number> {
  return await withinTransaction(deps.db, async (transaction) => {
    await erasePendingCopies(transaction, owner, email.trim());
    const references = await lockBookingsOf(transaction, owner, email.trim());
    return await eraseLocked(transaction, owner, { references, now: deps.clock.now() });
  });
}

/** How many bookings erasing this address would delete. */
export async function countErasable(deps: Pick<Deps, "db">, owner: OrganizationId, email: string): Promise<number> {
  return await countBookingsOf(deps.db, owner, email.trim());
}

/** False if there is no such booking. */
export async function deleteBooking(deps: EraseDeps, owner: OrganizationId, reference: Reference): Promise<boolean> {
  return await withinTransaction(deps.db, async (transaction) => {
    const references = await lockBooking(transaction, owner, reference);
    return (await eraseLocked(transaction, owner, { references, now: deps.clock.now() })) === 1;
  });
}

/**
 * Deletes the oldest bookings made before the cutoff, at most `limit` of them, and returns how many. Locked rows are left for
 * the next round, so this never waits, and it holds few rows for a short time, so nothing waits for it.
 */
export async function deleteExpiredBookings(
  db: Db,
  owner: OrganizationId,
  batch: { createdBefore: Date; limit: number; now: Date },
): Promise<number> {
  return await withinTransaction(db, async (transaction) => {
    const references = await lockExpiredBookings(transaction, owner, batch);
    return await eraseLocked(transaction, owner, { references, now: batch.now });
  });
}

async function eraseLocked(
  transaction: Db,
  owner: OrganizationId,
  locked: { references: readonly Reference[]; now: Date },
): Promise<number> {
  if (locked.references.length === 0) return 0;
  await eraseDeliveries(transaction, owner, locked);
  await erasePendingAnswers(transaction, owner, locked.references);
  return await deleteBookings(transaction, owner, locked.references);
}
