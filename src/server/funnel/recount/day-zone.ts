import { type Selectable, sql } from "kysely";
import type { OrganizationId } from "#contract/ids.ts";
import type { Db } from "../../db/pool.ts";
import type { DayZonesTable } from "../../db/tables.ts";

// Statements on day_zones, the row that says which set of counters an organization's analytics come from. Recording holds it
// in share mode; whoever changes what is counted holds it alone, for one short step at a time.

export type DayZone = Selectable<DayZonesTable>;

/** Waits for the recordings under way, and lets none begin until the transaction ends. */
export async function lockDayZone(transaction: Db, owner: OrganizationId): Promise<DayZone> {
  return await transaction
    .selectFrom("day_zones")
    .selectAll()
    .where("organization_id", "=", owner)
    .forUpdate()
    .executeTakeFirstOrThrow();
}

export async function updateDayZone(db: Db, owner: OrganizationId, change: Partial<DayZone>): Promise<void> {
  await db.updateTable("day_zones").set(change).where("organization_id", "=", owner).execute();
}

/** Organizations whose days are not counted in their own time zone, or whose recount was cut off. */
export async function listOutdated(db: Db): Promise<OrganizationId[]> {
  const rows = await selectOutdated(db).orderBy("organization_id").execute();
  return rows.map((row) => row.organization_id);
}

export async function isOutdated(db: Db, owner: OrganizationId): Promise<boolean> {
  return (await selectOutdated(db).where("organization_id", "=", owner).executeTakeFirst()) !== undefined;
}

function selectOutdated(db: Db) {
  return db
    .selectFrom("day_zones")
    .innerJoin("organizations", "organizations.id", "day_zones.organization_id")
    .select("organization_id")
    .where((where) =>
      where.or([
        where("zone", "!=", where.fn.coalesce("time_zone", where.val("UTC"))),
        where("building_version", "is not", null),
      ]),
    );
}

/** Whether the server's own time zone database has the zone: days are counted there. */
export async function knowsTimeZone(db: Db, zone: string): Promise<boolean> {
  const { rows } = await sql`select from pg_timezone_names where name = ${zone}`.execute(db);
  return rows.length > 0;
}
