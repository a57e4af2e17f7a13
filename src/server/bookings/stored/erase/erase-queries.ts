import { sql } from "kysely";
import type { OrganizationId, Reference, WidgetId } from "#contract/ids.ts";
import type { Db } from "../../../db/connections/pool.ts";
import { readAtHome, table } from "../../../db/home.ts";
import { toEmailKey } from "../../../db/statements/email-key.ts";

export type LockedBooking = { reference: Reference; widgetId: WidgetId; isTest: boolean };

export async function countBookingsOf(db: Db, owner: OrganizationId, email: string): Promise<number> {
  const { count } = await readAtHome(db, owner, (home) =>
    home
      .selectFrom("bookings")
      .select(({ fn }) => fn.countAll<number>().as("count"))
      .where("organization_id", "=", owner)
      .where("customer_email_key", "=", toEmailKey(email))
      .executeTakeFirstOrThrow(),
  );
  return count;
}

export async function lockBookingsOf(transaction: Db, owner: OrganizationId, email: string): Promise<LockedBooking[]> {
  return await transaction
    .selectFrom("bookings")
    .select(["reference", "widget_id as widgetId", "is_test as isTest"])
    .where("organization_id", "=", owner)
    .where("customer_email_key", "=", toEmailKey(email))
    .orderBy("reference")
    .forUpdate()
    .execute();
}

/** Removes the customer from unsettled requests. Settling such a request then stores nothing. */
export async function erasePendingCopies(transaction: Db, owner: OrganizationId, email: string): Promise<void> {
  await sql`
    update ${table("pending_bookings")} set copy = null, erased = true
    where organization_id = ${owner} and copy is not null
      and ${toEmailKey(sql`copy -> 'customer' ->> 'email'`)} = ${toEmailKey(email)}`.execute(transaction);
}

/** Removes the recorded answers, with their links to the appointment, from settled requests. */
export async function erasePendingResponses(
  transaction: Db,
  owner: OrganizationId,
  references: readonly Reference[],
): Promise<void> {
  await sql`
    update ${table("pending_bookings")} set answer = null, erased = true
    where organization_id = ${owner} and reference = any(${references as Reference[]}::text[])`.execute(transaction);
}

export async function lockBooking(
  transaction: Db,
  owner: OrganizationId,
  reference: Reference,
): Promise<LockedBooking[]> {
  return await transaction
    .selectFrom("bookings")
    .select(["reference", "widget_id as widgetId", "is_test as isTest"])
    .where("organization_id", "=", owner)
    .where("reference", "=", reference)
    .forUpdate()
    .execute();
}

export async function lockExpiredBookings(
  transaction: Db,
  owner: OrganizationId,
  batch: { createdBefore: Date; limit: number },
): Promise<LockedBooking[]> {
  return await transaction
    .selectFrom("bookings")
    .select(["reference", "widget_id as widgetId", "is_test as isTest"])
    .where("organization_id", "=", owner)
    .where("created_at", "<", batch.createdBefore)
    .orderBy("created_at")
    .limit(batch.limit)
    .forUpdate()
    .skipLocked()
    .execute();
}

/** The references stay reserved, because other systems identify their copies of these bookings only by reference. */
export async function deleteBookings(
  transaction: Db,
  owner: OrganizationId,
  references: readonly Reference[],
): Promise<number> {
  const { numAffectedRows } = await sql`
    delete from ${table("bookings")}
    where organization_id = ${owner} and reference = any(${references as Reference[]}::text[])`.execute(transaction);
  return Number(numAffectedRows ?? 0);
}
