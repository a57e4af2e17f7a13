import { type RawBuilder, sql } from "kysely";
import type { OrganizationId } from "#contract/ids.ts";
import { engineOf, PLAIN_HOME } from "../../db/engine.ts";
import type { Db } from "../../db/pool.ts";
import { countDaysBetween } from "../../lib/time/calendar.ts";
import { addInSteps } from "../record/add-in-steps.ts";
import {
  addToDays,
  addToKeyDays,
  addToSpans,
  changes,
  insertDays,
  insertKeyDays,
  SIDE_COLUMNS,
  visitsStarted,
} from "../record/counters.ts";
import { selectPeriod } from "../record/local-day.ts";
import { hasSpans, SPAN_LENGTHS, shorterSpanOf, spanStart } from "./key-spans.ts";

type RebuildLock = { release(): Promise<void> };

/** A session-level lock, so it ends with the process that holds it. Null: another process has it. */
export async function tryLockRebuild(connection: Db, owner: OrganizationId): Promise<RebuildLock | null> {
  const { rows } = await sql<{ locked: boolean }>`
    select pg_try_advisory_lock(${lockKey(owner)}) as locked`.execute(connection);
  if (!rows[0]?.locked) return null;
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

export type VisitRange = { first: Date; last: Date };

/** When the oldest visit started, and when the last one started or booked. */
export async function findVisitRange(transaction: Db, owner: OrganizationId): Promise<VisitRange | null> {
  const { rows } = await sql<{ first: Date | null; last: Date | null }>`
    select min(started_at) as first, greatest(max(started_at), max(converted_at)) as last
    from funnel_visits where organization_id = ${owner}`.execute(transaction);
  const { first = null, last = null } = rows[0] ?? {};
  return first && last ? { first, last } : null;
}

/** In UTC: the borders of local days make no difference here. */
export async function hasMoreVisitsThan(
  db: Db,
  owner: OrganizationId,
  { limit, firstDay, lastDay }: DayRange & { limit: number },
): Promise<boolean> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::integer as count from (
      select from funnel_visits
      where organization_id = ${owner} and started_at >= ${firstDay}::date::timestamp at time zone 'UTC'
        and started_at < (${lastDay}::date + 1)::timestamp at time zone 'UTC'
      limit ${limit + 1}
    ) visit`.execute(db);
  return (rows[0]?.count ?? 0) > limit;
}

/** The first statement of a repeatable-read transaction that reads the visits fixes what it sees of them. */
export async function takeSnapshot(transaction: Db, owner: OrganizationId): Promise<void> {
  await sql`select from funnel_visits where organization_id = ${owner} limit 1`.execute(transaction);
}

/** Local days, the last included. */
export type DayRange = { firstDay: string; lastDay: string };

/**
 * Counts everything that happened on these local days into a set that has nothing on them yet, so rows are only inserted. The
 * days must be whole spans of 10 days: sealed spans that are not longer are added up too.
 * Visits are read from a day before to a day after, because a local day begins and ends up to 14 hours before or after that of
 * UTC; what happened outside the days is counted with its own step. Returns how many visits started on these days.
 */
export async function countStep(
  transaction: Db,
  owner: OrganizationId,
  {
    version,
    rules,
    sealedBefore,
    firstDay,
    lastDay,
  }: DayRange & { version: number; rules: string; sealedBefore: string },
): Promise<number> {
  await groupInMemory(transaction);
  const from = sql`(${firstDay}::date - 1)::timestamp at time zone 'UTC'`;
  const until = sql`(${lastDay}::date + 2)::timestamp at time zone 'UTC'`;
  const chosen = { condition: sql`day between ${firstDay}::date and ${lastDay}::date` };
  const selectVisits = (condition: RawBuilder<unknown>) => sql`
      select organization_id, ${version}::integer as version, ${rules}::text as day_rules, period_from, period_until, shift,
        ${sealedBefore}::date as sealed_before, widget_id, 1 as sign, true as moves_keys,
        ${sql.join(SIDE_COLUMNS.map((name) => sql.ref(name)))}
      from funnel_visits cross join (${selectPeriod(sql`${rules}::text`, until)}) period
      where organization_id = ${owner} and ${condition}`;
  const counted = sql`
    with sides as materialized (
      ${selectVisits(sql`started_at >= ${from} and started_at < ${until}`)}
      union all
      ${selectVisits(sql`started_at < ${from} and converted_at >= ${from}`)}
    ), ${changes}`;
  if (engineOf(transaction) === "citus")
    return await addInSteps(transaction, owner, { counted, condition: chosen.condition, includeSpans: true });
  const { rows } = await sql<{ visits: number }>`${counted}
    , added_days as (${insertDays(PLAIN_HOME, chosen)} returning widget_id, ${visitsStarted} as visits)
    , added_keys as (${insertKeyDays(PLAIN_HOME, chosen)})
    , ${addUpSpansOfDays({ owner, version, sealedBefore, days: countDaysBetween(firstDay, lastDay) + 1, ...chosen })}
    select coalesce(sum(visits), 0)::integer as visits from added_days where widget_id = ''`.execute(transaction);
  return rows[0]?.visits ?? 0;
}

/**
 * Grouping hundreds of thousands of visits at once is much faster in memory and by hash. PostgreSQL expects few groups here, and
 * would sort. The step's time is reported with its commit, as OtherWork expects.
 */
async function groupInMemory(transaction: Db): Promise<void> {
  await sql`select set_config('work_mem', '128MB', true), set_config('enable_sort', 'off', true), pg_stat_force_next_flush()`.execute(
    transaction,
  );
}

type CountedDays = {
  owner: OrganizationId;
  version: number;
  sealedBefore: string;
  days: number;
  /** Chooses the days. */
  condition: RawBuilder<unknown>;
};

/** Adds up the sealed spans of the days from `key_changes`. */
function addUpSpansOfDays({ owner, version, sealedBefore, days, condition }: CountedDays): RawBuilder<unknown> {
  const lengths = SPAN_LENGTHS.filter((length) => length <= days);
  const sums = lengths.map((length) => {
    const shorter = shorterSpanOf(length);
    const [source, day] = shorter === null ? ["key_changes", "day"] : [`spans_of_${shorter}`, "start_day"];
    const start = spanStart(sql.ref(day), length);
    return sql`${sql.ref(`spans_of_${length}`)} as materialized (
      select widget_id, ${start} as start_day, kind, key, sum(views)::integer as views, sum(bookings)::integer as bookings
      from ${sql.table(source)}
      where ${start} + ${sql.lit(length)} <= ${sealedBefore}::date and ${hasSpans(sql`widget_id`, length)}
        and ${shorter === null ? condition : sql`true`}
      group by widget_id, ${start}, kind, key
    )`;
  });
  const spans = lengths.map(
    (length) => sql`
      select widget_id, ${sql.lit(length)} as span_days, start_day, kind, key, views, bookings
      from ${sql.table(`spans_of_${length}`)}`,
  );
  return sql`${sql.join(sums)}, added_spans as (
      insert into funnel_key_spans (organization_id, version, widget_id, span_days, start_day, kind, key, views, bookings)
      select ${owner}::text, ${version}::integer, widget_id, span_days, start_day, kind, key, views, bookings
      from (${sql.join(spans, sql` union all `)}) added
      order by widget_id, span_days, start_day, kind, key
    )`;
}

/** Deletes the changes recorded for days that are about to be counted: the snapshot contains them. */
export async function deleteChanges(
  transaction: Db,
  owner: OrganizationId,
  { version, firstDay, lastDay }: DayRange & { version: number },
): Promise<void> {
  for (const table of ["funnel_days", "funnel_key_days"])
    await sql`delete from ${sql.table(table)} where organization_id = ${owner} and version = ${version}
      and day between ${firstDay}::date and ${lastDay}::date`.execute(transaction);
}

/** Adds the few changes recorded meanwhile to the counted set, including spans. */
export async function mergeSets(
  transaction: Db,
  owner: OrganizationId,
  { from, into, sealedBefore }: { from: number; into: number; sealedBefore: string },
): Promise<void> {
  const counted = sql`
    with day_changes as (
      select organization_id, ${into}::integer as version, widget_id, day, reached_1, reached_2, reached_3, reached_4,
        reached_5, reached_6, no_availability, bookings, failed, lead_ms, lead_count
      from funnel_days where organization_id = ${owner} and version = ${from}
    ), key_changes as (
      select organization_id, ${into}::integer as version, ${sealedBefore}::date as sealed_before, widget_id, day, kind, key,
        views, bookings
      from funnel_key_days where organization_id = ${owner} and version = ${from} and (views <> 0 or bookings <> 0)
    )`;
  if (engineOf(transaction) === "citus") {
    await addInSteps(transaction, owner, { counted, condition: sql`true`, includeSpans: true });
    return;
  }
  await sql`${counted}
    , added_days as (${addToDays(PLAIN_HOME)})
    , added_keys as (${addToKeyDays(PLAIN_HOME)})
    ${addToSpans(PLAIN_HOME)}`.execute(transaction);
}

/** The tables that hold sets of counters. */
const COUNTER_TABLES = ["funnel_days", "funnel_key_days", "funnel_key_spans"];

/**
 * Deletes counters in sets older than the active one, at most `limit`. Returns how many. Versions only grow, so an abandoned
 * rebuild's set is among them, and the one being built is not. The order is the primary key's: without it the planner reads the
 * table from its beginning, past everything already deleted.
 */
export async function deleteOldSets(db: Db, owner: OrganizationId, limit: number): Promise<number> {
  let deleted = 0;
  for (const table of COUNTER_TABLES) {
    const result = await sql`
      delete from ${sql.table(table)} where organization_id = ${owner} and ctid = any(array(
        select ctid from ${sql.table(table)}
        where organization_id = ${owner} and version < (select version from day_zones where organization_id = ${owner})
        order by organization_id, version, widget_id limit ${limit - deleted}
      ))`.execute(db);
    deleted += Number(result.numAffectedRows ?? 0n);
  }
  return deleted;
}
