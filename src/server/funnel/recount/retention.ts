import { type RawBuilder, sql } from "kysely";
import type { OrganizationId } from "#contract/ids.ts";
import type { Db } from "../../db/pool.ts";
import { type DayZone, lockDayZone, updateDayZone } from "./day-zone.ts";
import { SPAN_LENGTHS } from "./key-spans.ts";
import { deleteOldSets } from "./rebuild-queries.ts";

// Retention of funnel events and of everything derived from them. Local days are kept or go as a whole, and so do visits: a
// visit goes, with all its events, once its last one lies on a day that is gone. How far this has got is remembered as an
// instant, day_zones.kept_since: no day before it is shown again (analytics/queries.ts), also after a move to a longer plan.
// So the counters of such days need not add up to anything, and are simply deleted.

type Batch = { keptSince: Date; limit: number };

/**
 * Deletes the oldest visits that ended before the kept days, at most `limit`, with their events. Returns how many. Recording
 * for this organization waits meanwhile, so no event can slip in between the deleting of the events and that of their visit.
 * While days are being counted in another zone as well, a visit goes when it is gone by both.
 */
export async function deleteExpiredVisits(db: Db, owner: OrganizationId, batch: Batch): Promise<number> {
  return await deleteBatch(db, owner, batch, async (transaction, { zone, building_zone }) => {
    const endedBefore = (by: string) => sql`(last_at at time zone ${by})::date < ${toDay(batch.keptSince, by)}`;
    const { rows } = await sql<{ count: number }>`
      with expired as materialized (
        select widget_id, visit_id from funnel_visits
        where organization_id = ${owner} and started_at < ${batch.keptSince}
          and ${endedBefore(zone)} and ${endedBefore(building_zone ?? zone)}
        order by started_at limit ${batch.limit}
      ), gone_events as (
        delete from funnel_events event using expired
        where event.organization_id = ${owner} and event.widget_id = expired.widget_id and event.visit_id = expired.visit_id
      ), gone as (
        delete from funnel_visits visit using expired
        where visit.organization_id = ${owner} and visit.widget_id = expired.widget_id and visit.visit_id = expired.visit_id
        returning visit.visit_id
      )
      select count(*) as count from gone`.execute(transaction);
    return rows[0]?.count ?? 0;
  });
}

/** Deletes counters that have no more use, at most `limit`: those before the kept days, and sets that nobody reads. */
export async function deleteUselessCounters(db: Db, owner: OrganizationId, batch: Batch): Promise<number> {
  const old = await deleteOldSets(db, owner, batch.limit);
  return old + (await deleteExpiredCounters(db, owner, { ...batch, limit: batch.limit - old }));
}

/** Which rows count nothing but days before the given one. */
const EXPIRED_ROWS: readonly { table: string; lieBefore: (day: RawBuilder<unknown>) => RawBuilder<unknown> }[] = [
  { table: "funnel_days", lieBefore: (day) => sql`day < ${day}` },
  { table: "funnel_key_days", lieBefore: (day) => sql`day < ${day}` },
  ...SPAN_LENGTHS.map((spanDays) => ({
    table: "funnel_key_spans",
    lieBefore: (day: RawBuilder<unknown>) =>
      sql`span_days = ${sql.lit(spanDays)} and start_day <= ${day} - ${sql.lit(spanDays)}`,
  })),
];

/** Widget by widget, so that the primary keys lead to those days. */
async function deleteExpiredCounters(db: Db, owner: OrganizationId, batch: Batch): Promise<number> {
  return await deleteBatch(
    db,
    owner,
    batch,
    async (transaction, { zone, version, building_zone, building_version }) => {
      let deleted = 0;
      for (const set of [
        { zone, version },
        { zone: building_zone, version: building_version },
      ]) {
        if (set.zone === null || set.version === null) continue;
        for (const { table, lieBefore } of EXPIRED_ROWS) {
          const result = await sql`
          delete from ${sql.table(table)} where ctid = any(array(
            select counted.ctid
            from (select '' as id union all select id from widgets where organization_id = ${owner}) widget
            join ${sql.table(table)} counted on counted.organization_id = ${owner} and version = ${set.version}
              and counted.widget_id = widget.id and ${lieBefore(toDay(batch.keptSince, set.zone))}
            limit ${batch.limit - deleted}
          ))`.execute(transaction);
          deleted += Number(result.numAffectedRows ?? 0n);
        }
      }
      return deleted;
    },
  );
}

/** Remembers, in the same transaction, since when things are kept if anything was deleted. */
async function deleteBatch(
  db: Db,
  owner: OrganizationId,
  { keptSince }: Batch,
  run: (transaction: Db, zone: DayZone) => Promise<number>,
): Promise<number> {
  return await db.transaction().execute(async (transaction) => {
    const zone = await lockDayZone(transaction, owner);
    const deleted = await run(transaction, zone);
    if (deleted > 0 && zone.kept_since < keptSince) await updateDayZone(transaction, owner, { kept_since: keptSince });
    return deleted;
  });
}

function toDay(instant: Date, zone: string): RawBuilder<string> {
  return sql`(${instant}::timestamptz at time zone ${zone})::date`;
}
