import { sql } from "kysely";
import type { OrganizationId } from "#contract/ids.ts";
import type { Db } from "../db/pool.ts";

// Retention of funnel events and of everything derived from them. Local days are kept or go as a whole, and so do visits: a
// visit goes, with all its events, once its last one lies on a day that is gone. So what is left always adds up.

/** Deletes the oldest visits that ended before the kept days, at most `limit`, with their events. Returns how many. */
export async function deleteExpiredVisits(
  db: Db,
  owner: OrganizationId,
  batch: { keptSince: Date; limit: number },
): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    with expired as (
      select visit.widget_id, visit.visit_id
      from day_zones join funnel_visits visit using (organization_id)
      where organization_id = ${owner} and started_at < ${batch.keptSince}
        and (last_at at time zone zone)::date < (${batch.keptSince}::timestamptz at time zone zone)::date
      order by started_at limit ${batch.limit}
      for update of visit skip locked
    ), gone_events as (
      delete from funnel_events event using expired
      where event.organization_id = ${owner} and event.widget_id = expired.widget_id and event.visit_id = expired.visit_id
    ), gone as (
      delete from funnel_visits visit using expired
      where visit.organization_id = ${owner} and visit.widget_id = expired.widget_id and visit.visit_id = expired.visit_id
      returning visit.visit_id
    )
    select count(*) as count from gone`.execute(db);
  return rows[0]?.count ?? 0;
}

/** Deletes the counters of days, and of months, that lie before the kept days, at most `limit` of each. */
export async function deleteExpiredCounters(
  db: Db,
  owner: OrganizationId,
  batch: { keptSince: Date; limit: number },
): Promise<number> {
  let deleted = 0;
  for (const { table, column, lastDay } of [
    { table: "funnel_days", column: "day", lastDay: sql`day` },
    { table: "funnel_key_days", column: "day", lastDay: sql`day` },
    {
      table: "funnel_key_months",
      column: "month",
      lastDay: sql`(month + interval '1 month' - interval '1 day')::date`,
    },
  ]) {
    const result = await sql`
      delete from ${sql.table(table)} where ctid = any(array(
        select counted.ctid from day_zones join ${sql.table(table)} counted using (organization_id)
        where organization_id = ${owner} and ${lastDay} < (${batch.keptSince}::timestamptz at time zone zone)::date
        order by ${sql.ref(column)} limit ${batch.limit}
        for update of counted skip locked
      ))`.execute(db);
    deleted = Math.max(deleted, Number(result.numAffectedRows ?? 0n));
  }
  return deleted;
}
