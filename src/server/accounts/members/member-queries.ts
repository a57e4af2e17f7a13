import type { MemberRole } from "#contract/app/role.ts";
import type { OrganizationId } from "#contract/ids.ts";
import type { Db } from "../../db/connections/pool.ts";

export type MemberRow = {
  user_id: string;
  name: string;
  email: string;
  role: MemberRole;
  two_factor_enabled: boolean;
  created_at: Date;
};

export async function listMembers(db: Db, owner: OrganizationId): Promise<MemberRow[]> {
  return await selectMembers(db, owner).orderBy("members.created_at").orderBy("user_id").execute();
}

export async function findMember(db: Db, owner: OrganizationId, userId: string): Promise<MemberRow | null> {
  return (await selectMembers(db, owner).where("user_id", "=", userId).executeTakeFirst()) ?? null;
}

/** Counts the owners and locks them to the end of the transaction, so concurrent changes of owners wait. */
export async function lockOwners(db: Db, owner: OrganizationId): Promise<number> {
  const owners = db
    .selectFrom("members")
    .select("user_id")
    .where("organization_id", "=", owner)
    .where("role", "=", "owner")
    .orderBy("user_id")
    .forUpdate();
  return (await owners.execute()).length;
}

export async function updateMemberRole(
  db: Db,
  owner: OrganizationId,
  { userId, role }: { userId: string; role: MemberRole },
): Promise<void> {
  await db
    .updateTable("members")
    .set({ role })
    .where("organization_id", "=", owner)
    .where("user_id", "=", userId)
    .execute();
}

export async function deleteMember(db: Db, owner: OrganizationId, userId: string): Promise<void> {
  await db.deleteFrom("members").where("organization_id", "=", owner).where("user_id", "=", userId).execute();
}

function selectMembers(db: Db, owner: OrganizationId) {
  return db
    .selectFrom("members")
    .innerJoin("users", "users.id", "members.user_id")
    .select(["user_id", "name", "email", "role", "two_factor_enabled", "members.created_at"])
    .where("organization_id", "=", owner);
}
