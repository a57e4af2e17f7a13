import { sql } from "kysely";
import type { OrganizationId } from "#contract/ids.ts";
import type { Db } from "../db/connections/pool.ts";

/** When the oldest stored booking was made; null if there is none. */
export async function findFirstBookedAt(db: Db, owner: OrganizationId, since: Date): Promise<Date | null> {
  const row = await db
    .selectFrom("bookings")
    .select("created_at")
    .where("organization_id", "=", owner)
    .where("created_at", ">=", since)
    .orderBy("created_at")
    .limit(1)
    .executeTakeFirst();
  return row?.created_at ?? null;
}

/**
 * False if another process is exporting this organization, to any target: the same target can be written in many ways. PostgreSQL
 * releases a dead process's lock.
 */
export async function exportAlone(db: Db, owner: OrganizationId, run: () => Promise<void>): Promise<boolean> {
  return await db.connection().execute(async (connection) => {
    const key = sql`hashtextextended(${`export ${owner}`}, 0)`;
    const { rows } = await sql<{ locked: boolean }>`select pg_try_advisory_lock(${key}) as locked`.execute(connection);
    if (!rows[0]?.locked) return false;
    try {
      await run();
    } finally {
      await sql`select pg_advisory_unlock(${key})`.execute(connection);
    }
    return true;
  });
}
