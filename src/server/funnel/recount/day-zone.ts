import { type Selectable, sql } from "kysely";
import type { OrganizationId } from "#contract/ids.ts";
import { engineOf, requireSettled } from "../../db/engine.ts";
import type { Db } from "../../db/pool.ts";
import type { DayZonesTable } from "../../db/tables.ts";
import { parseTimeZone } from "../../lib/time/calendar.ts";
import { RULES_RELEASE, readZoneRules } from "../../lib/time/zone-rules.ts";

// Statements on day_zones, the row that says how an organization's local days are counted. Recording holds a share lock
// on it; a process that changes the counting locks it exclusively, for one short step at a time.

export type DayZone = Pick<Selectable<DayZonesTable>, (typeof COLUMNS)[number]>;

const COLUMNS = [
  "organization_id",
  "zone",
  "rules",
  "version",
  "spans_sealed_before",
  "kept_since",
  "building_version",
  "building_rules",
  "packed_from",
  "packed_before",
] as const;

/** Waits for current recordings, and blocks new ones until the transaction ends. */
export async function lockDayZone(transaction: Db, owner: OrganizationId): Promise<DayZone> {
  await requireSettled(transaction, owner);
  return await transaction
    .selectFrom("day_zones")
    .select(COLUMNS)
    .where("organization_id", "=", owner)
    .forUpdate()
    .executeTakeFirstOrThrow();
}

/**
 * The lock that recording takes, for a transaction that locks something else before it records. On Citus, recordings exclude each
 * other (record-in-steps.ts), and two share locks could not both become that lock.
 */
export async function holdDayZone(transaction: Db, owner: OrganizationId): Promise<void> {
  const strength = engineOf(transaction) === "citus" ? sql`no key update` : sql`share`;
  await sql`-- prepared: hold_day_zone
    select from day_zones where organization_id = ${owner} for ${strength}`.execute(transaction);
}

export async function updateDayZone(
  db: Db,
  owner: OrganizationId,
  change: Partial<Selectable<DayZonesTable>>,
): Promise<void> {
  await db.updateTable("day_zones").set(change).where("organization_id", "=", owner).execute();
}

/**
 * Organizations whose days are not counted correctly: in the wrong time zone, by outdated rules, or with an interrupted
 * recount. Rules newer than this runtime's are kept: another process knows better.
 */
export async function listOutdated(db: Db): Promise<OrganizationId[]> {
  const rows = await db
    .selectFrom("day_zones")
    .innerJoin("organizations", "organizations.id", "day_zones.organization_id")
    .select(["organization_id", "zone", "rules", "rules_release", "building_version", "time_zone"])
    .orderBy("organization_id")
    .execute();
  return rows.filter(needsRecount).map((row) => row.organization_id);
}

type ZoneRow = Pick<Selectable<DayZonesTable>, "zone" | "rules" | "rules_release" | "building_version"> & {
  time_zone: string | null;
};

function needsRecount(row: ZoneRow): boolean {
  if (row.zone !== (row.time_zone ?? "UTC") || row.building_version !== null) return true;
  if (row.rules_release > RULES_RELEASE || parseTimeZone(row.zone) === null) return false;
  return row.rules !== readZoneRules(row.zone).id;
}
