import { type RawBuilder, sql } from "kysely";
import type { OrganizationId } from "#contract/ids.ts";
import type { Db } from "../db/pool.ts";
import { addDays, addKeys, addSpans, countDays, counterSets, countKeys } from "./counters.ts";
import { lockDayZone } from "./day-zone.ts";
import { deleteOldSets } from "./rebuild-queries.ts";

// Retention of funnel events and of everything derived from them. A visit goes as a whole, with its events and with what it
// added to the counters, once its last event lies on a local day that is no longer kept. So the counters are at all times
// the sum of the visits that are left: a rebuild, another time zone or another plan finds the same numbers. Days that are no
// longer kept are not shown (analytics/queries.ts), even where a visit that began on one of them is still here.

type Batch = { keptSince: Date; limit: number };

/**
 * Deletes the oldest visits that ended before the kept days, at most `limit`. Returns how many. Recording for this
 * organization waits meanwhile, so no event can slip in between the deleting of the events and that of their visit.
 */
export async function deleteExpiredVisits(db: Db, owner: OrganizationId, batch: Batch): Promise<number> {
  return await db.transaction().execute(async (transaction) => {
    await lockDayZone(transaction, owner);
    const { rows } = await sql<{ count: number }>`
      with zones as (
        select organization_id, zone, version, sealed_before, building_zone, building_version, building_sealed_before,
          building_widget_id, building_visit_id
        from day_zones where organization_id = ${owner}
      ), expired as materialized (
        select visit.widget_id, visit.visit_id
        from zones join funnel_visits visit using (organization_id)
        where organization_id = ${owner} and started_at < ${batch.keptSince}
          and (last_at at time zone zone)::date < (${batch.keptSince}::timestamptz at time zone zone)::date
        order by started_at limit ${batch.limit}
      ), gone_events as (
        delete from funnel_events event using expired
        where event.organization_id = ${owner} and event.widget_id = expired.widget_id and event.visit_id = expired.visit_id
      ), gone as (
        delete from funnel_visits visit using expired
        where visit.organization_id = ${owner} and visit.widget_id = expired.widget_id and visit.visit_id = expired.visit_id
        returning visit.organization_id, visit.widget_id, visit.visit_id, visit.started_at, visit.steps, visit.source,
          visit.medium, visit.campaign, visit.channel, visit.conversions
      ), sets as (${counterSets}
      ), sides as (
        select organization_id, version, zone, sealed_before, widget_id, -1 as sign, started_at, steps, source, medium,
          campaign, channel, conversions, true as moves_keys
        from gone join sets using (organization_id)
        where mark_widget_id is null or (widget_id, visit_id) <= (mark_widget_id, mark_visit_id)
      ), counted_days as (${countDays})
      , counted_keys as (${countKeys})
      , added_days as (${addDays})
      , added_keys as (${addKeys})
      , added_spans as (${addSpans})
      select count(*) as count from gone`.execute(transaction);
    return rows[0]?.count ?? 0;
  });
}

const EMPTY_DAY = sql<boolean>`(reached_1, reached_2, reached_3, reached_4, reached_5, reached_6, no_availability, bookings,
  failed, lead_ms, lead_count) = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)`;
const EMPTY_KEY = sql<boolean>`(views, bookings) = (0, 0)`;

const COUNTER_TABLES: readonly { table: string; column: string; isEmpty: RawBuilder<boolean> }[] = [
  { table: "funnel_days", column: "day", isEmpty: EMPTY_DAY },
  { table: "funnel_key_days", column: "day", isEmpty: EMPTY_KEY },
  { table: "funnel_key_spans", column: "start_day", isEmpty: EMPTY_KEY },
];

/** Deletes counters that have no more use, at most `limit`: empty ones before the kept days, and sets that nobody reads. */
export async function deleteUselessCounters(db: Db, owner: OrganizationId, batch: Batch): Promise<number> {
  const old = await deleteOldSets(db, owner, batch.limit);
  return old + (await deleteEmptyCounters(db, owner, { ...batch, limit: batch.limit - old }));
}

/** Widget by widget, so that the primary keys lead to the days before the kept ones. */
async function deleteEmptyCounters(db: Db, owner: OrganizationId, batch: Batch): Promise<number> {
  return await db.transaction().execute(async (transaction) => {
    const { version, zone } = await lockDayZone(transaction, owner);
    let deleted = 0;
    for (const { table, column, isEmpty } of COUNTER_TABLES) {
      const result = await sql`
        delete from ${sql.table(table)} where ctid = any(array(
          select counted.ctid
          from (select '' as id union all select id from widgets where organization_id = ${owner}) widget
          join ${sql.table(table)} counted on counted.organization_id = ${owner} and version = ${version}
            and counted.widget_id = widget.id
            and ${sql.ref(column)} < (${batch.keptSince}::timestamptz at time zone ${zone})::date
          where ${isEmpty} limit ${batch.limit - deleted}
        ))`.execute(transaction);
      deleted += Number(result.numAffectedRows ?? 0n);
    }
    return deleted;
  });
}
