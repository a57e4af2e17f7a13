import { sql } from "kysely";
import type { OrganizationId } from "#contract/ids.ts";
import type { Db } from "../db/connections/pool.ts";
import { OrganizationMoving } from "../db/engine.ts";
import { inTransaction } from "../db/statements/transactions.ts";
import type { Deps } from "../deps.ts";
import { upsertDeleted } from "./queries.ts";

/** Keeps a row about it for the operator. `db` should be longRunningDb: many bookings take minutes. False if it doesn't exist. */
export async function removeOrganization(
  { db, clock, log }: Pick<Deps, "db" | "clock" | "log">,
  { id, name, deletedBy }: { id: OrganizationId; name: string; deletedBy: string | null },
): Promise<boolean> {
  const isDeleted = await inTransaction(db, async (transaction) => {
    const counts = await countOf(transaction, id);
    if (!(await deleteOrganization(transaction, id))) return false;
    await upsertDeleted(transaction, { id, name, deletedAt: clock.now(), deletedBy, ...counts });
    return true;
  });
  if (isDeleted) log.warn("organization.deleted", { organizationId: id });
  return isDeleted;
}

/**
 * Every table with rows of an organization, in the order of deletion: the common locking order (ARCHITECTURE, "Rows are locked in
 * one order"), and referring rows before the rows they refer to.
 */
export const ORGANIZATION_TABLES = [
  "bookings",
  "appointment_checks",
  "booking_changes",
  "change_clocks",
  "booking_deletions",
  "deletion_clocks",
  "delivery_queue",
  "webhook_events",
  "event_clocks",
  "deliveries",
  "delivery_attempts",
  "endpoint_notices",
  "redeliveries",
  "attempt_totals",
  "endpoints",
  "delivery_lanes",
  "booking_references",
  "booking_clocks",
  "pending_bookings",
  "sandbox_busy",
  "sandbox_appointments",
  "sandboxes",
  "funnel_visits",
  "funnel_keys",
  "funnel_drops",
  "visit_totals",
  "visit_packs",
  "visit_days",
  "visit_progress",
  "audit_entries",
  "api_key_uses",
  "api_keys",
  "invitations",
  "report_links",
  "report_subscriptions",
  "segments",
  "members",
  "live_periods",
  "organization_logos",
  "widgets",
  "scheduling_connections",
] as const;

/** From here on, recording and storing wait for this transaction, and then find that the widget is gone. */
async function holdRecording(transaction: Db, owner: OrganizationId): Promise<void> {
  const progress = await sql`select from visit_progress where organization_id = ${owner} for update`.execute(
    transaction,
  );
  const organization = transaction.selectFrom("organizations").select("id").where("id", "=", owner);
  // Every organization has its row. On Citus, rows can't be seen for a moment while they move to another server.
  if (progress.rows.length === 0 && (await organization.executeTakeFirst())) throw new OrganizationMoving();
  await sql`select from widgets where organization_id = ${owner} order by id for update`.execute(transaction);
}

/**
 * Deletes the organization with all its rows. False if there is none. People stay: they may be in other organizations.
 *
 * With many visits this takes minutes, in which others may add an endpoint or a redelivery. Once the organization's row is locked,
 * nothing that refers to it can be added, and a second round deletes what was. It takes about a fifth of the time of the first.
 */
export async function deleteOrganization(transaction: Db, owner: OrganizationId): Promise<boolean> {
  // References are on all servers of a cluster. Citus deletes them there at the same time, unless it is told not to, and then changes
  // no table that others refer to. On one server the setting means nothing.
  await sql`select set_config('citus.multi_shard_modify_mode', 'sequential', true)`.execute(transaction);
  await holdRecording(transaction, owner);
  await deleteRows(transaction, owner);
  await sql`select from organizations where id = ${owner} for update`.execute(transaction);
  await deleteRows(transaction, owner);
  const result = await transaction.deleteFrom("organizations").where("id", "=", owner).executeTakeFirst();
  return result.numDeletedRows === 1n;
}

async function deleteRows(transaction: Db, owner: OrganizationId): Promise<void> {
  for (const table of ORGANIZATION_TABLES)
    await sql`delete from ${sql.table(table)} where organization_id = ${owner}`.execute(transaction);
}

async function countOf(db: Db, owner: OrganizationId): Promise<{ bookings: number; members: number }> {
  const { rows } = await sql<{ bookings: number; members: number }>`
    select (select count(*) from bookings where organization_id = ${owner}) as bookings,
      (select count(*) from members where organization_id = ${owner}) as members`.execute(db);
  return rows[0] ?? { bookings: 0, members: 0 };
}
