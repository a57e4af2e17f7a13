import { sql } from "kysely";
import type { OrganizationId } from "#contract/ids.ts";
import { STEPS } from "#contract/steps.ts";
import type { Db } from "../../db/pool.ts";
import { addDays, addKeys, addSpans, countDays, countKeys } from "../record/counters.ts";
import { toStepBit } from "../record/touch.ts";

const CONVERSION_BITS = toStepBit("booking_completed") | toStepBit("booking_failed");

type Mark = { widgetId: string; visitId: string };

type RebuildLock = { release(): Promise<void> };

/** A lock of the connection's session, so that it ends with the process that holds it. Null: someone else has it. */
export async function tryLockRebuild(connection: Db, owner: OrganizationId): Promise<RebuildLock | null> {
  const { rows } = await sql<{ locked: boolean }>`
    select pg_try_advisory_lock(${lockKey(owner)}) as locked`.execute(connection);
  return rows[0]?.locked ? toRebuildLock(connection, owner) : null;
}

/** The same, however long it takes. */
export async function waitForRebuildLock(connection: Db, owner: OrganizationId): Promise<RebuildLock> {
  await sql`select pg_advisory_lock(${lockKey(owner)})`.execute(connection);
  return toRebuildLock(connection, owner);
}

function toRebuildLock(connection: Db, owner: OrganizationId): RebuildLock {
  return {
    async release() {
      await sql`select pg_advisory_unlock(${lockKey(owner)})`.execute(connection);
    },
  };
}

function lockKey(owner: OrganizationId) {
  return sql`hashtextextended(${`rebuild ${owner}`}, 0)`;
}

export async function findTimeZone(db: Db, owner: OrganizationId): Promise<string> {
  const row = await db
    .selectFrom("organizations")
    .select("time_zone")
    .where("id", "=", owner)
    .executeTakeFirstOrThrow();
  return row.time_zone ?? "UTC";
}

export type DerivedChunk = {
  /** Where the next chunk begins; null when nothing lay behind the mark. */
  last: Mark | null;
  /** Visits that were counted. */
  visits: number;
};

/**
 * Derives the next visits after the mark from their events, by the same rules as record.ts, writes them where they differ
 * from what is stored, deletes stored visits that no event speaks of, and counts the others into the set being built. Relies
 * on the caller's lock on the day_zones row: nothing of this organization is recorded meanwhile. Both tables are read in the
 * order of their primary keys as far as the limit, and then key by key: `offset 0` keeps the planner from joining in another
 * way, in which it would read all events of the organization for each chunk.
 */
export async function deriveVisits(
  transaction: Db,
  owner: OrganizationId,
  chunk: { version: number; zone: string; sealedBefore: string; after: Mark; limit: number },
): Promise<DerivedChunk> {
  const behindMark = sql`organization_id = ${owner}
    and (widget_id, visit_id) > (${chunk.after.widgetId}::text, ${chunk.after.visitId}::uuid)`;
  const { rows } = await sql<{ visits: number; last_widget_id: string; last_visit_id: string }>`
    with keys as materialized (
      select widget_id, visit_id from (
        (select widget_id, visit_id from funnel_events where ${behindMark}
          group by widget_id, visit_id order by widget_id, visit_id limit ${chunk.limit})
        union
        (select widget_id, visit_id from funnel_visits where ${behindMark}
          order by widget_id, visit_id limit ${chunk.limit})
      ) either
      order by widget_id, visit_id limit ${chunk.limit}
    ), events as (
      select keys.widget_id, keys.visit_id, at, step, page, source, medium, campaign, channel, device, country
      from keys cross join lateral (
        select at, step, page, source, medium, campaign, channel, device, country
        from funnel_events event
        where event.organization_id = ${owner} and event.widget_id = keys.widget_id and event.visit_id = keys.visit_id
        offset 0
      ) event
    ), derived as materialized (
      select widget_id, visit_id, started_at, last_at, steps, page, source, medium, campaign, channel, device, country,
        case when steps & ${CONVERSION_BITS} <> 0 then (
          select jsonb_object_agg(step || ':' || conversion_key, jsonb_build_array(at_ms, start_ms))
          from (
            select distinct on (step, conversion_key) step, conversion_key,
              (extract(epoch from at) * 1000)::bigint as at_ms, (extract(epoch from start_at) * 1000)::bigint as start_ms
            from funnel_events event
            where event.organization_id = ${owner} and event.widget_id = visit.widget_id
              and event.visit_id = visit.visit_id and step in ('booking_completed', 'booking_failed')
            order by step, conversion_key, at, start_at
          ) first_of_each
        ) end as conversions
      from (
        select distinct on (widget_id, visit_id) widget_id, visit_id, at as started_at, max(at) over visit as last_at,
          bit_or(1 << array_position(${STEPS as unknown as string[]}::text[], step) - 1) over visit as steps,
          page, source, medium, campaign, channel, device, country
        from events
        window visit as (partition by widget_id, visit_id)
        order by widget_id, visit_id, at, source, medium, campaign, channel, page, device, country
      ) visit
    ), stray as (
      delete from funnel_visits where ctid = any(array(
        select visit.ctid
        from (select widget_id, visit_id from keys except select widget_id, visit_id from derived) key
        cross join lateral (
          select ctid from funnel_visits visit
          where visit.organization_id = ${owner} and visit.widget_id = key.widget_id and visit.visit_id = key.visit_id
          offset 0
        ) visit
      ))
    ), written as (
      insert into funnel_visits as visit (organization_id, widget_id, visit_id, started_at, last_at, steps, page, source,
        medium, campaign, channel, device, country, conversions)
      select ${owner}, widget_id, visit_id, started_at, last_at, steps, page, source, medium, campaign, channel, device,
        country, conversions
      from derived
      on conflict (organization_id, widget_id, visit_id) do update set
        (started_at, last_at, steps, page, source, medium, campaign, channel, device, country, conversions)
          = (excluded.started_at, excluded.last_at, excluded.steps, excluded.page, excluded.source, excluded.medium,
            excluded.campaign, excluded.channel, excluded.device, excluded.country, excluded.conversions)
      where (visit.started_at, visit.last_at, visit.steps, visit.page, visit.source, visit.medium, visit.campaign,
          visit.channel, visit.device, visit.country, visit.conversions)
        is distinct from (excluded.started_at, excluded.last_at, excluded.steps, excluded.page, excluded.source,
          excluded.medium, excluded.campaign, excluded.channel, excluded.device, excluded.country, excluded.conversions)
    ), sides as (
      select ${owner} as organization_id, ${chunk.version}::integer as version, ${chunk.zone} as zone,
        ${chunk.sealedBefore}::date as sealed_before, widget_id, 1 as sign, started_at, steps, source, medium, campaign, channel,
        conversions, true as moves_keys
      from derived
    ), counted_days as (${countDays})
    , counted_keys as (${countKeys})
    , added_days as (${addDays})
    , added_keys as (${addKeys})
    , added_spans as (${addSpans})
    select (select count(*) from derived) as visits, widget_id as last_widget_id, visit_id as last_visit_id
    from keys order by widget_id desc, visit_id desc limit 1`.execute(transaction);
  const [row] = rows;
  if (!row) return { last: null, visits: 0 };
  return { last: { widgetId: row.last_widget_id, visitId: row.last_visit_id }, visits: row.visits };
}

/** The tables that hold sets of counters. */
const COUNTER_TABLES = ["funnel_days", "funnel_key_days", "funnel_key_spans"];

/**
 * Deletes counters of sets before the one that is read, at most `limit`. Returns how many. Versions only grow, so what an
 * abandoned rebuild left behind is among them, and what is being built is not. The order is the primary key's: without it the
 * planner reads the table from its beginning, past everything that was deleted before.
 */
export async function deleteOldSets(db: Db, owner: OrganizationId, limit: number): Promise<number> {
  let deleted = 0;
  for (const table of COUNTER_TABLES) {
    const result = await sql`
      delete from ${sql.table(table)} where ctid = any(array(
        select ctid from ${sql.table(table)}
        where organization_id = ${owner} and version < (select version from day_zones where organization_id = ${owner})
        order by organization_id, version, widget_id limit ${limit - deleted}
      ))`.execute(db);
    deleted += Number(result.numAffectedRows ?? 0n);
  }
  return deleted;
}
