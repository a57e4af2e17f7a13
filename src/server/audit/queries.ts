import { sql } from "kysely";
import type { OrganizationId } from "#contract/ids.ts";
import type { Db } from "../db/pool.ts";

export type AuditRow = {
  id: string;
  at: Date;
  user_id: string | null;
  email: string | null;
  name: string | null;
  action: string;
  target: string | null;
  detail: Record<string, string | number>;
};

/** Newest first. The next page starts after the time and id of the last entry. */
export async function listAuditEntries(
  db: Db,
  owner: OrganizationId,
  { before, limit }: { before: { at: Date; id: string } | null; limit: number },
): Promise<AuditRow[]> {
  const entries = await db
    .selectFrom("audit_entries")
    .select(["id", "at", "user_id", "email", "action", "target", "detail"])
    .where("organization_id", "=", owner)
    .$if(before !== null, (all) => all.where(sql<boolean>`(at, id) < (${before?.at}, ${before?.id}::uuid)`))
    .orderBy("at", "desc")
    .orderBy("id", "desc")
    .limit(limit)
    .execute();
  const names = await findNames(db, [...new Set(entries.flatMap(({ user_id: id }) => id ?? []))]);
  return entries.map((entry) => ({ ...entry, name: names.get(entry.user_id ?? "") ?? null }));
}

/** A statement of its own: people may be on another server than the organization's rows. */
async function findNames(db: Db, ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
  if (ids.length === 0) return new Map();
  const users = await db.selectFrom("users").select(["id", "name"]).where("id", "in", ids).execute();
  return new Map(users.map(({ id, name }) => [id, name]));
}
