import { sql } from "kysely";
import type { OrganizationId, WidgetId } from "#contract/ids.ts";
import { STEPS } from "#contract/steps.ts";
import type { Db } from "../../db/pool.ts";
import type { DayKey } from "../record/day-keys.ts";
import type { Touch } from "../record/touch.ts";

export async function listWidgetIds(db: Db, owner: OrganizationId): Promise<Set<WidgetId>> {
  const rows = await db.selectFrom("widgets").select("id").where("organization_id", "=", owner).execute();
  return new Set(rows.map((row) => row.id));
}

/** Days since then are shown again: what a smaller plan had deleted has come back with the file. */
export async function lowerKeptSince(db: Db, owner: OrganizationId, oldest: Date): Promise<void> {
  await db
    .updateTable("day_zones")
    .set({ kept_since: oldest })
    .where("organization_id", "=", owner)
    .where("kept_since", ">", oldest)
    .execute();
}

/**
 * For each of the touches, which have one step each: its local day, and whether it was recorded before. The limit in the
 * lateral query keeps the planner from reading all events of the organization in order to look for a few.
 */
export async function lookUpTouches(
  db: Db,
  owner: OrganizationId,
  touches: readonly Touch[],
): Promise<{ day: string; is_recorded: boolean }[]> {
  const { rows } = await sql<{ day: string; is_recorded: boolean }>`
    select (given.at at time zone zone)::date as day, recorded.yes is not null as is_recorded
    from day_zones cross join unnest(
      ${touches.map((touch) => touch.widgetId)}::text[], ${touches.map((touch) => touch.visitId)}::uuid[],
      ${touches.map((touch) => touch.at)}::timestamptz[], ${touches.map((touch) => 1 + Math.log2(touch.steps))}::integer[],
      ${touches.map((touch) => touch.conversion?.key ?? "")}::text[]
    ) with ordinality as given (widget_id, visit_id, at, position, conversion_key, number)
    left join lateral (
      select true as yes from funnel_events event
      where event.organization_id = ${owner} and event.widget_id = given.widget_id and event.visit_id = given.visit_id
        and event.at = given.at and event.step = (${STEPS as unknown as string[]}::text[])[given.position]
        and event.conversion_key = given.conversion_key
      limit 1
    ) recorded on true
    where day_zones.organization_id = ${owner}
    order by given.number`.execute(db);
  return rows;
}

/** The sources and campaigns that the counters of these days have, all widgets together. */
export async function listKeysOfDays(
  db: Db,
  owner: OrganizationId,
  days: readonly string[],
): Promise<(DayKey & { day: string })[]> {
  const { rows } = await sql<DayKey & { day: string }>`
    select day, kind, key
    from day_zones join funnel_key_days using (organization_id, version)
    where organization_id = ${owner} and widget_id = '' and day = any(${days}::date[])
      and kind in ('source', 'campaign')`.execute(db);
  return rows;
}
