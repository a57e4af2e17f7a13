import { sql } from "kysely";
import type { Deletion, DeletionReason } from "#contract/bookings/booking-changes.ts";
import type { OrganizationId, Reference, WidgetId } from "#contract/ids.ts";
import type { Db } from "../../../db/connections/pool.ts";
import { readAtHome, table, writeAtHome } from "../../../db/home.ts";
import { assert } from "../../../lib/assert.ts";

// What was deleted, for those who keep copies of the bookings. deletedAt is unique within an organization and in commit order,
// like a booking's createdAt, so the same paging and the same `since` work.

/**
 * Call it last in the transaction that deletes the bookings: from here to the commit the organization's other deletions wait.
 * Each gets a millisecond of its own.
 */
export async function recordDeletions(
  transaction: Db,
  owner: OrganizationId,
  {
    bookings,
    reason,
    now,
  }: { bookings: readonly { reference: Reference; widgetId: WidgetId }[]; reason: DeletionReason; now: Date },
): Promise<void> {
  const lastAt = await takeDeletedAt(transaction, owner, { count: bookings.length, now });
  const firstMs = lastAt.getTime() - bookings.length + 1;
  const references = bookings.map(({ reference }) => reference);
  const widgetIds = bookings.map(({ widgetId }) => widgetId);
  const instants = bookings.map((_, place) => new Date(firstMs + place));
  // As arrays: one parameter per value would limit how many bookings one transaction can delete.
  await sql`
    insert into ${table("booking_deletions")} (organization_id, deleted_at, reference, widget_id, reason)
    select ${owner}, deleted_at, reference, widget_id, ${reason}
    from unnest(${instants}::timestamptz[], ${references}::text[], ${widgetIds}::text[])
      as deleted (deleted_at, reference, widget_id)`.execute(transaction);
}

/** The last of `count` consecutive milliseconds, all later than those of any deletion before. */
async function takeDeletedAt(
  transaction: Db,
  owner: OrganizationId,
  { count, now }: { count: number; now: Date },
): Promise<Date> {
  const first = new Date(now.getTime() + count - 1);
  const { rows } = await sql<{ last_deleted_at: Date }>`
    insert into ${table("deletion_clocks", "clock")} (organization_id, last_deleted_at) values (${owner}, ${first})
    on conflict (organization_id) do update set last_deleted_at =
      greatest(excluded.last_deleted_at,
        (clock.last_deleted_at at time zone 'UTC' + ${count}::integer * interval '1 millisecond') at time zone 'UTC')
    returning last_deleted_at`.execute(transaction);
  assert(rows[0], "an upsert returns its row");
  return rows[0].last_deleted_at;
}

/** Newest first. `from` is inclusive, `before` exclusive. */
export async function listDeletions(
  db: Db,
  owner: OrganizationId,
  { from, before, limit }: { from: Date; before: Date | null; limit: number },
): Promise<Deletion[]> {
  const statement = sql<Omit<Deletion, "deletedAt"> & { deletedAt: Date }>`
    select reference, widget_id as "widgetId", reason, deleted_at as "deletedAt" from ${table("booking_deletions")}
    where organization_id = ${owner} and deleted_at >= ${from} and deleted_at < ${before ?? "infinity"}::timestamptz
    order by deleted_at desc limit ${limit}`;
  const { rows } = await readAtHome(db, owner, (home) => statement.execute(home));
  return rows.map((row) => ({ ...row, deletedAt: row.deletedAt.toISOString() }));
}

/** Deletes expired records, at most `limit`. */
export async function deleteExpiredDeletions(
  db: Db,
  owner: OrganizationId,
  { keptSince, limit }: { keptSince: Date; limit: number },
): Promise<number> {
  const statement = sql`
    delete from ${table("booking_deletions")} where organization_id = ${owner} and deleted_at in (
      select deleted_at from ${table("booking_deletions")} where organization_id = ${owner} and deleted_at < ${keptSince}
      order by deleted_at limit ${limit})`;
  const { numAffectedRows } = await writeAtHome(db, owner, (home) => statement.execute(home));
  return Number(numAffectedRows ?? 0n);
}
