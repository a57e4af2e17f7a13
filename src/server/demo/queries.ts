import { sql } from "kysely";
import type { OrganizationId, Reference } from "#contract/ids.ts";
import type { Db } from "../db/connections/pool.ts";

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

/** As if they had been made in their widget's sandbox. */
export async function markSandboxBookings(
  db: Db,
  owner: OrganizationId,
  references: readonly Reference[],
): Promise<void> {
  await sql`
    update bookings set asked_in = 'sandbox'
    where organization_id = ${owner} and reference = any(${references as Reference[]}::text[])`.execute(db);
}
