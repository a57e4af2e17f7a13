import type { Selectable } from "kysely";
import type { Db } from "../../db/connections/pool.ts";
import type { UserSessionsTable } from "../../db/tables/account-tables.ts";
import type { Deps } from "../../deps.ts";

// Statements about people are not scoped to an organization, because a person may belong to several.

const COLUMNS = ["id", "user_agent", "created_at", "updated_at", "expires_at"] as const;

export type SessionRow = Pick<Selectable<UserSessionsTable>, (typeof COLUMNS)[number]>;

/** Newest first. */
export async function listSessions(db: Db, userId: string, now: Date): Promise<SessionRow[]> {
  return await db
    .selectFrom("user_sessions")
    .select(COLUMNS)
    .where("user_id", "=", userId)
    .where("expires_at", ">", now)
    .orderBy("created_at", "desc")
    .orderBy("id")
    .execute();
}

/** False if the person has no such session. */
export async function deleteSession(db: Db, userId: string, id: string): Promise<boolean> {
  const gone = db.deleteFrom("user_sessions").where("user_id", "=", userId).where("id", "=", id).returning("id");
  return (await gone.executeTakeFirst()) !== undefined;
}

export async function deleteSessionByToken(db: Db, token: string): Promise<void> {
  await db.deleteFrom("user_sessions").where("token", "=", token).execute();
}

export async function deleteSessions(db: Db, userId: string): Promise<void> {
  await db.deleteFrom("user_sessions").where("user_id", "=", userId).execute();
}

/** Returns how many were deleted. */
export async function deleteOtherSessions(db: Db, userId: string, keptId: string): Promise<number> {
  const gone = db.deleteFrom("user_sessions").where("user_id", "=", userId).where("id", "!=", keptId).returning("id");
  return (await gone.execute()).length;
}

/** Background task: deletes everyone's expired sessions, links and invitations. The tables are small and indexed by expiry. */
export async function sweepAccounts({ db, clock }: Pick<Deps, "db" | "clock">): Promise<void> {
  const now = clock.now();
  await db.deleteFrom("user_sessions").where("expires_at", "<=", now).execute();
  await db.deleteFrom("user_verifications").where("expires_at", "<=", now).execute();
  await db.deleteFrom("invitations").where("expires_at", "<=", now).execute();
}
