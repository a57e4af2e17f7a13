import { type Insertable, sql } from "kysely";
import type { MemberRole } from "#contract/app/role.ts";
import type { OrganizationId } from "#contract/ids.ts";
import type { Plan } from "#contract/plans.ts";
import type { Db } from "../db/connections/pool.ts";
import type { MembersTable, UserAccountsTable, UsersTable } from "../db/tables/account-tables.ts";
import { OIDC_PROVIDER } from "./auth/auth-allow-list.ts";

// Statements about people are not scoped to an organization, because a person may belong to several.

export async function hasUsers(db: Db): Promise<boolean> {
  return (await db.selectFrom("users").select("id").limit(1).executeTakeFirst()) !== undefined;
}

type UserRow = { id: string; name: string; email: string; two_factor_enabled: boolean };

const USER_COLUMNS = ["id", "name", "email", "two_factor_enabled"] as const;

/** Addresses are stored in lower case. */
export async function findUserByEmail(db: Db, email: string): Promise<UserRow | null> {
  const user = db.selectFrom("users").select(USER_COLUMNS).where("email", "=", email.toLowerCase());
  return (await user.executeTakeFirst()) ?? null;
}

export async function findUser(db: Db, id: string): Promise<UserRow | null> {
  return (await db.selectFrom("users").select(USER_COLUMNS).where("id", "=", id).executeTakeFirst()) ?? null;
}

/** False if the address already has an account. */
export async function insertUser(db: Db, row: Insertable<UsersTable>): Promise<boolean> {
  const made = await db
    .insertInto("users")
    .values(row)
    .onConflict((conflict) => conflict.column("email").doNothing())
    .returning("id")
    .executeTakeFirst();
  return made !== undefined;
}

export async function insertUserAccount(db: Db, row: Insertable<UserAccountsTable>): Promise<void> {
  await db.insertInto("user_accounts").values(row).execute();
}

export async function updateUserName(db: Db, id: string, change: { name: string; updated_at: Date }): Promise<void> {
  await db.updateTable("users").set(change).where("id", "=", id).execute();
}

export async function markEmailProven(db: Db, id: string): Promise<void> {
  await db.updateTable("users").set({ email_verified: true }).where("id", "=", id).execute();
}

export async function findSignInWays(db: Db, userId: string): Promise<{ hasPassword: boolean; hasOidc: boolean }> {
  const rows = await db.selectFrom("user_accounts").select("provider_id").where("user_id", "=", userId).execute();
  const has = (provider: string) => rows.some((row) => row.provider_id === provider);
  return { hasPassword: has("credential"), hasOidc: has(OIDC_PROVIDER) };
}

/** Afterwards, the issuer can no longer sign this person in. False if it couldn't before. */
export async function deleteOidcAccounts(db: Db, userId: string): Promise<boolean> {
  const own = db.deleteFrom("user_accounts").where("user_id", "=", userId).where("provider_id", "=", OIDC_PROVIDER);
  return (await own.returning("id").execute()).length > 0;
}

export type Membership = {
  organization_id: OrganizationId;
  name: string;
  plan: Plan;
  time_zone: string | null;
  role: MemberRole;
  last_used_at: Date | null;
};

/** Most recently used first. */
export async function listMemberships(db: Db, userId: string): Promise<Membership[]> {
  return await db
    .selectFrom("members")
    .innerJoin("organizations", "organizations.id", "members.organization_id")
    .select(["organization_id", "organizations.name", "plan", "time_zone", "role", "last_used_at"])
    .where("user_id", "=", userId)
    .orderBy("last_used_at", (order) => order.desc().nullsLast())
    .orderBy("members.created_at")
    .orderBy("organization_id")
    .execute();
}

/**
 * How many organizations a person owns, and has deleted since then. Locks the person's row, so that two requests at once can't both
 * create the last one.
 */
export async function countOwnedLocked(
  transaction: Db,
  { userId, email, deletedSince }: { userId: string; email: string; deletedSince: Date },
): Promise<number> {
  await transaction.selectFrom("users").select("id").where("id", "=", userId).forNoKeyUpdate().execute();
  const { rows } = await sql<{ count: number }>`
    select (select count(*) from members where user_id = ${userId} and role = 'owner')
      + (select count(*) from deleted_organizations where deleted_by = ${email} and deleted_at > ${deletedSince}) as count
  `.execute(transaction);
  return rows[0]?.count ?? 0;
}

export async function recordMembershipUse(
  db: Db,
  owner: OrganizationId,
  use: { userId: string; usedAt: Date },
): Promise<void> {
  await db
    .updateTable("members")
    .set({ last_used_at: use.usedAt })
    .where("organization_id", "=", owner)
    .where("user_id", "=", use.userId)
    .execute();
}

/** False if the person is already a member. */
export async function insertMember(db: Db, row: Insertable<MembersTable>): Promise<boolean> {
  const made = await db
    .insertInto("members")
    .values(row)
    .onConflict((conflict) => conflict.columns(["organization_id", "user_id"]).doNothing())
    .returning("user_id")
    .executeTakeFirst();
  return made !== undefined;
}

// Not scoped to an organization: setup happens before the first one exists.

export async function insertSetupLink(db: Db, row: { token_hash: Buffer; created_at: Date }): Promise<void> {
  await db.insertInto("setup_links").values(row).execute();
}

export async function hasSetupLink(db: Db, tokenHash: Buffer): Promise<boolean> {
  const link = db.selectFrom("setup_links").select("created_at").where("token_hash", "=", tokenHash);
  return (await link.executeTakeFirst()) !== undefined;
}

/** False if someone else was first: this waits for their transaction, and then finds nothing to delete. */
export async function takeSetupLinks(db: Db): Promise<boolean> {
  const gone = await db.deleteFrom("setup_links").returning("created_at").execute();
  return gone.length > 0;
}
