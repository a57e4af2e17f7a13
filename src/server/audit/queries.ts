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
  return await db
    .selectFrom("audit_entries as entry")
    .leftJoin("users", "users.id", "entry.user_id")
    .select(["entry.id", "at", "entry.user_id", "entry.email", "users.name", "action", "target", "detail"])
    .where("entry.organization_id", "=", owner)
    .$if(before !== null, (entries) =>
      entries.where(sql<boolean>`(at, entry.id) < (${before?.at}, ${before?.id}::uuid)`),
    )
    .orderBy("at", "desc")
    .orderBy("entry.id", "desc")
    .limit(limit)
    .execute();
}
