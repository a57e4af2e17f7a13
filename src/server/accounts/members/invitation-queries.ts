import type { Insertable, Selectable } from "kysely";
import type { OrganizationId } from "#contract/ids.ts";
import type { Db } from "../../db/connections/pool.ts";
import type { InvitationsTable } from "../../db/tables/account-tables.ts";

const COLUMNS = ["organization_id", "id", "email", "role", "invited_by", "created_at", "expires_at"] as const;

export type InvitationRow = Pick<Selectable<InvitationsTable>, (typeof COLUMNS)[number]>;

/**
 * A new invitation for the same address replaces the old one and its link. With `keepsOwners`, it doesn't replace an unexpired
 * invitation of an owner, and false is returned. The statement itself checks this, so an invitation that is created at the same
 * moment counts too.
 */
export async function upsertInvitation(
  db: Db,
  row: Insertable<InvitationsTable>,
  { keepsOwners }: { keepsOwners: boolean },
): Promise<boolean> {
  const { organization_id: _owner, email: _email, ...change } = row;
  const upserted = await db
    .insertInto("invitations")
    .values(row)
    .onConflict((conflict) => {
      const replaced = conflict.columns(["organization_id", "email"]).doUpdateSet(change);
      if (!keepsOwners) return replaced;
      return replaced.where((old) =>
        old.or([old("invitations.role", "!=", "owner"), old("invitations.expires_at", "<=", row.created_at)]),
      );
    })
    .returning("id")
    .executeTakeFirst();
  return upserted !== undefined;
}

/**
 * How many invitations the organization created since then, including those that were accepted, replaced or revoked. Locks the
 * organization's row, so that two requests at once can't both create the last one.
 */
export async function countInvitedLocked(transaction: Db, owner: OrganizationId, since: Date): Promise<number> {
  await transaction.selectFrom("organizations").select("id").where("id", "=", owner).forNoKeyUpdate().execute();
  const { count } = await transaction
    .selectFrom("audit_entries")
    .select(({ fn }) => fn.countAll<number>().as("count"))
    .where("organization_id", "=", owner)
    .where("at", ">", since)
    .where("action", "=", "invitation.created")
    .executeTakeFirstOrThrow();
  return count;
}

/** Replaces an invitation's link. False if the invitation was revoked, accepted or replaced. */
export async function updateInvitationToken(
  db: Db,
  owner: OrganizationId,
  { id, token_hash }: { id: string; token_hash: Buffer },
): Promise<boolean> {
  const own = db.updateTable("invitations").where("organization_id", "=", owner).where("id", "=", id);
  return (await own.set({ token_hash }).returning("id").executeTakeFirst()) !== undefined;
}

export async function listInvitations(db: Db, owner: OrganizationId, now: Date): Promise<InvitationRow[]> {
  return await db
    .selectFrom("invitations")
    .select(COLUMNS)
    .where("organization_id", "=", owner)
    .where("expires_at", ">", now)
    .orderBy("created_at", "desc")
    .orderBy("id")
    .execute();
}

export async function deleteInvitation(db: Db, owner: OrganizationId, id: string): Promise<InvitationRow | null> {
  const gone = db.deleteFrom("invitations").where("organization_id", "=", owner).where("id", "=", id);
  return (await gone.returning(COLUMNS).executeTakeFirst()) ?? null;
}

/** Searches all organizations, because the token itself leads to its organization. */
export async function findInvitation(
  db: Db,
  tokenHash: Buffer,
  now: Date,
): Promise<(InvitationRow & { organization_name: string }) | null> {
  const invitation = db
    .selectFrom("invitations")
    .innerJoin("organizations", "organizations.id", "invitations.organization_id")
    .select(COLUMNS.map((column) => `invitations.${column}` as const))
    .select("organizations.name as organization_name")
    .where("token_hash", "=", tokenHash)
    .where("expires_at", ">", now);
  return (await invitation.executeTakeFirst()) ?? null;
}

/** Deleting the row uses up the link, so only one caller gets it. */
export async function takeInvitation(db: Db, tokenHash: Buffer, now: Date): Promise<InvitationRow | null> {
  const taken = db.deleteFrom("invitations").where("token_hash", "=", tokenHash).where("expires_at", ">", now);
  return (await taken.returning(COLUMNS).executeTakeFirst()) ?? null;
}

/** True if any organization has invited this address, which then may create an account although sign-up is closed. */
export async function hasInvitationFor(db: Db, email: string, now: Date): Promise<boolean> {
  const invitation = db.selectFrom("invitations").select("id").where("email", "=", email.toLowerCase());
  return (await invitation.where("expires_at", ">", now).executeTakeFirst()) !== undefined;
}
