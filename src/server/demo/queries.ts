import { sql } from "kysely";
import type { OrganizationId } from "#contract/ids.ts";
import type { Db } from "../db/pool.ts";

/**
 * Every table with rows of an organization, in the order of deletion: the common locking order (ARCHITECTURE, "Rows are locked in
 * one order"), and referring rows before the rows they refer to.
 */
export const ORGANIZATION_TABLES = [
  "bookings",
  "booking_deletions",
  "deletion_clocks",
  "delivery_queue",
  "webhook_events",
  "deliveries",
  "delivery_attempts",
  "endpoint_notices",
  "redeliveries",
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
  "funnel_days",
  "funnel_key_days",
  "funnel_key_spans",
  "funnel_drops",
  "day_zones",
  "audit_entries",
  "api_key_uses",
  "api_keys",
  "invitations",
  "members",
  "live_periods",
  "widgets",
  "scheduling_connections",
] as const;

/** From here on, recording and storing wait for this transaction, and then find that the widget is gone. */
export async function holdRecording(transaction: Db, owner: OrganizationId): Promise<void> {
  await sql`select from day_zones where organization_id = ${owner} for update`.execute(transaction);
  await sql`select from widgets where organization_id = ${owner} order by id for update`.execute(transaction);
}

export async function deleteRowsOf(
  transaction: Db,
  owner: OrganizationId,
  table: (typeof ORGANIZATION_TABLES)[number],
): Promise<void> {
  await sql`delete from ${sql.table(table)} where organization_id = ${owner}`.execute(transaction);
}

/** False if there is no such organization. */
export async function deleteOrganization(transaction: Db, owner: OrganizationId): Promise<boolean> {
  const result = await transaction.deleteFrom("organizations").where("id", "=", owner).executeTakeFirst();
  return result.numDeletedRows === 1n;
}

/** Deletes those of these people who are in no organization, with their sign-in methods. */
export async function deleteStrandedUsers(transaction: Db, emails: readonly string[]): Promise<void> {
  await sql`
    delete from users where email = any(${emails as string[]}::text[])
      and not exists (select from members where members.user_id = users.id)`.execute(transaction);
}

export async function hasMembers(db: Db, owner: OrganizationId): Promise<boolean> {
  const member = db.selectFrom("members").select("user_id").where("organization_id", "=", owner).limit(1);
  return (await member.executeTakeFirst()) !== undefined;
}
