import { sql } from "kysely";
import type { OrganizationId, WidgetId } from "#contract/ids.ts";
import type { Db } from "../../db/pool.ts";
import { parseTimeZone } from "../../lib/time/calendar.ts";
import { readZoneRules, type ZoneRules } from "../../lib/time/zone-rules.ts";
import { CAPPED_KINDS } from "../record/day-keys.ts";
import { toKindNumber } from "../record/key-id.ts";

export async function listWidgetIds(db: Db, owner: OrganizationId): Promise<Set<WidgetId>> {
  const rows = await db.selectFrom("widgets").select("id").where("organization_id", "=", owner).execute();
  return new Set(rows.map((row) => row.id));
}

/** Whether retention has deleted any day since then. */
export async function hasDeletedSince(db: Db, owner: OrganizationId, oldest: Date): Promise<boolean> {
  const row = await db
    .selectFrom("day_zones")
    .select("organization_id")
    .where("organization_id", "=", owner)
    .where("kept_since", ">", oldest)
    .executeTakeFirst();
  return row !== undefined;
}

/** The rules by which the organization's days are counted now. */
export async function findDayRules(db: Db, owner: OrganizationId): Promise<ZoneRules> {
  const { zone } = await db
    .selectFrom("day_zones")
    .select("zone")
    .where("organization_id", "=", owner)
    .executeTakeFirstOrThrow();
  return readZoneRules(parseTimeZone(zone) ?? "UTC");
}

type DayKey = { day: string; kind: (typeof CAPPED_KINDS)[number]; key: number };

/** The capped keys in these days' counters, for all widgets together. */
export async function listKeysOfDays(db: Db, owner: OrganizationId, days: readonly string[]): Promise<DayKey[]> {
  const { rows } = await sql<DayKey>`
    select day, case kind ${sql.join(
      CAPPED_KINDS.map((kind) => sql`when ${sql.lit(toKindNumber(kind))} then ${sql.lit(kind)}`),
      sql` `,
    )} end as kind, key
    from day_zones join funnel_key_days using (organization_id, version)
    where organization_id = ${owner} and widget_id = '' and day = any(${days}::date[])
      and kind in (${sql.join(CAPPED_KINDS.map((kind) => sql.lit(toKindNumber(kind))))})`.execute(db);
  return rows;
}
