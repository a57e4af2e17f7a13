import type { Selectable } from "kysely";
import type { OrganizationId, SegmentId } from "#contract/ids.ts";
import type { Db } from "../../db/connections/pool.ts";
import type { AccountTables } from "../../db/tables/account-tables.ts";

export type SegmentRow = Selectable<AccountTables["segments"]>;

export async function listSegments(db: Db, owner: OrganizationId): Promise<SegmentRow[]> {
  return await db
    .selectFrom("segments")
    .select(["organization_id", "id", "name", "query", "created_at"])
    .where("organization_id", "=", owner)
    .orderBy("name")
    .execute();
}

export async function insertSegment(db: Db, row: SegmentRow): Promise<void> {
  await db.insertInto("segments").values(row).execute();
}

export async function renameSegment(
  db: Db,
  owner: OrganizationId,
  { id, name }: { id: SegmentId; name: string },
): Promise<void> {
  await db.updateTable("segments").set({ name }).where("organization_id", "=", owner).where("id", "=", id).execute();
}

/** Its name; null if there is none with this id. */
export async function deleteSegment(db: Db, owner: OrganizationId, id: SegmentId): Promise<string | null> {
  const gone = db.deleteFrom("segments").where("organization_id", "=", owner).where("id", "=", id);
  return (await gone.returning("name").executeTakeFirst())?.name ?? null;
}
