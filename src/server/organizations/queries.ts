import type { Insertable, Selectable, Updateable } from "kysely";
import type { OrganizationId } from "#contract/ids.ts";
import type { Db } from "../db/pool.ts";
import type { OrganizationsTable } from "../db/tables.ts";
import { RULES_RELEASE, readZoneRules } from "../lib/time/zone-rules.ts";
import { saveZoneOffsets } from "./zone-offsets.ts";

const COLUMNS = ["id", "name", "plan", "time_zone", "created_at"] as const;

export type OrganizationRow = Pick<Selectable<OrganizationsTable>, (typeof COLUMNS)[number]>;

/** Also creates the row that says how its local days are counted. */
export async function insertOrganization(db: Db, row: Insertable<OrganizationsTable>): Promise<void> {
  const zone = row.time_zone ?? "UTC";
  const rules = readZoneRules(zone);
  await saveZoneOffsets(db, rules);
  await db
    .with("made", (cte) => cte.insertInto("organizations").values(row).returning("id"))
    .insertInto("day_zones")
    .columns(["organization_id", "zone", "rules", "rules_release", "version"])
    .expression((select) =>
      select
        .selectFrom("made")
        .select(({ val, lit, ref }) => [
          ref("id").as("organization_id"),
          val(zone).as("zone"),
          val(rules.id).as("rules"),
          val(RULES_RELEASE).as("rules_release"),
          lit(1).as("version"),
        ]),
    )
    .execute();
}

export async function listOrganizations(db: Db): Promise<OrganizationRow[]> {
  return await db.selectFrom("organizations").select(COLUMNS).orderBy("created_at").orderBy("id").execute();
}

export async function findOrganization(db: Db, id: OrganizationId): Promise<OrganizationRow | null> {
  return (await db.selectFrom("organizations").select(COLUMNS).where("id", "=", id).executeTakeFirst()) ?? null;
}

/** Locks the organization until the transaction ends. */
export async function lockOrganization(transaction: Db, id: OrganizationId): Promise<OrganizationRow | null> {
  const row = await transaction
    .selectFrom("organizations")
    .select(COLUMNS)
    .where("id", "=", id)
    .forNoKeyUpdate()
    .executeTakeFirst();
  return row ?? null;
}

export async function updateOrganization(
  db: Db,
  id: OrganizationId,
  change: Updateable<OrganizationsTable>,
): Promise<OrganizationRow | null> {
  const row = await db
    .updateTable("organizations")
    .set(change)
    .where("id", "=", id)
    .returning(COLUMNS)
    .executeTakeFirst();
  return row ?? null;
}
