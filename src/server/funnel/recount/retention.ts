import { type RawBuilder, sql } from "kysely";
import { DAY_MS, HOUR_MS } from "#contract/durations.ts";
import type { OrganizationId } from "#contract/ids.ts";
import type { Db } from "../../db/pool.ts";
import { inOrganization } from "../../db/transactions.ts";
import { deleteEmptyPacks, outdatePacks, utcDay } from "../packs/pack-queries.ts";
import { localDay } from "../record/local-day.ts";
import { lastAt } from "../record/merge-touches.ts";
import { type DayZone, lockDayZone, updateDayZone } from "./day-zone.ts";
import { SPAN_LENGTHS } from "./key-spans.ts";
import { deleteOldSets } from "./rebuild-queries.ts";

// Retention of visits and everything derived from them. Counters of local days are kept or deleted as a whole, and so are visits: a
// visit is deleted once the day of its last step has expired in every time zone. The progress is remembered as an instant, day_zones.kept_since: no day before it
// is shown (analytics/queries.ts), even after a move to a longer plan, unless an import brings it back, and that recounts. So the
// counters of such days need not add up: single days are simply deleted, while a span that contains them stays as it is.

type Batch = { keptSince: Date; limit: number };

/** A local day starts at most this long before any of its instants: where clocks are put back, it has 25 hours. */
const DAY_LENGTH_MAX_MS = 26 * HOUR_MS;

/**
 * Deletes the oldest visits that ended before the kept days in every time zone, at most `limit`. Returns how many. So the oldest
 * day that is shown stays complete if the zone changes.
 */
export async function deleteExpiredVisits(db: Db, owner: OrganizationId, batch: Batch): Promise<number> {
  return await deleteBatch(db, owner, batch, async (transaction) => {
    const endedBefore = new Date(batch.keptSince.getTime() - DAY_LENGTH_MAX_MS);
    const { rows } = await sql<{ day: string }>`
      delete from funnel_visits where organization_id = ${owner} and ctid = any(array(
        select ctid from funnel_visits
        where organization_id = ${owner} and started_at < ${endedBefore} and ${lastAt} < ${endedBefore}
        order by started_at limit ${batch.limit}
      ))
      returning ${utcDay(sql`started_at`)} as day`.execute(transaction);
    await outdatePacks(
      transaction,
      owner,
      rows.map(({ day }) => day),
    );
    if (rows.length > 0) await deleteEmptyPacks(transaction, owner);
    return rows.length;
  });
}

/** Keys in use are marked every day, and marks older than a day are never relied on (known-keys.ts). */
const MARK_MARGIN_DAYS = 2;

/** Deletes texts that no visit or counter within the kept days can use. */
async function deleteUnusedKeys(db: Db, owner: OrganizationId, { keptSince, limit }: Batch): Promise<number> {
  const unusedSince = new Date(keptSince.getTime() - MARK_MARGIN_DAYS * DAY_MS);
  const result = await sql`
    delete from funnel_keys where organization_id = ${owner} and id = any(array(
      select id from funnel_keys where organization_id = ${owner} and used_on < ${unusedSince.toISOString()}::date
      limit ${limit}
    )) and used_on < ${unusedSince.toISOString()}::date`.execute(db);
  return Number(result.numAffectedRows ?? 0n);
}

async function deleteExpiredDrops(db: Db, owner: OrganizationId, { keptSince, limit }: Batch): Promise<number> {
  const result = await sql`
    delete from funnel_drops where organization_id = ${owner} and ctid = any(array(
      select ctid from funnel_drops where organization_id = ${owner} and hour < ${keptSince} limit ${limit}
    ))`.execute(db);
  return Number(result.numAffectedRows ?? 0n);
}

/**
 * Deletes counters that are no longer needed, at most `limit`: those before the kept days, unused sets, and old texts and
 * drops.
 */
export async function deleteUnusedCounters(db: Db, owner: OrganizationId, batch: Batch): Promise<number> {
  let deleted = await deleteOldSets(db, owner, batch.limit);
  for (const deleteSome of [deleteExpiredCounters, deleteUnusedKeys, deleteExpiredDrops])
    deleted += await deleteSome(db, owner, { ...batch, limit: batch.limit - deleted });
  return deleted;
}

/** Rows that only count days before the given one. */
const EXPIRED_ROWS: readonly { table: string; lieBefore: (day: RawBuilder<unknown>) => RawBuilder<unknown> }[] = [
  { table: "funnel_days", lieBefore: (day) => sql`day < ${day}` },
  { table: "funnel_key_days", lieBefore: (day) => sql`day < ${day}` },
  ...SPAN_LENGTHS.map((spanDays) => ({
    table: "funnel_key_spans",
    lieBefore: (day: RawBuilder<unknown>) =>
      sql`span_days = ${sql.lit(spanDays)} and start_day <= ${day} - ${sql.lit(spanDays)}`,
  })),
];

/** Widget by widget, so that the primary keys can be used. */
async function deleteExpiredCounters(db: Db, owner: OrganizationId, batch: Batch): Promise<number> {
  return await deleteBatch(
    db,
    owner,
    batch,
    async (transaction, { rules, version, building_rules, building_version }) => {
      let deleted = 0;
      for (const set of [
        { rules, version },
        { rules: building_rules, version: building_version },
      ]) {
        if (set.rules === null || set.version === null) continue;
        for (const { table, lieBefore } of EXPIRED_ROWS) {
          const result = await sql`
          delete from ${sql.table(table)} where organization_id = ${owner} and ctid = any(array(
            select counted.ctid
            from (select '' as id union all select id from widgets where organization_id = ${owner}) widget
            join ${sql.table(table)} counted on counted.organization_id = ${owner} and version = ${set.version}
              and counted.widget_id = widget.id and ${lieBefore(toDay(batch.keptSince, set.rules))}
            limit ${batch.limit - deleted}
          ))`.execute(transaction);
          deleted += Number(result.numAffectedRows ?? 0n);
        }
      }
      return deleted;
    },
  );
}

/** If anything was deleted, also remembers, in the same transaction, the start of the kept days. */
async function deleteBatch(
  db: Db,
  owner: OrganizationId,
  { keptSince }: Batch,
  run: (transaction: Db, zone: DayZone) => Promise<number>,
): Promise<number> {
  return await inOrganization(db, owner, async (transaction) => {
    const zone = await lockDayZone(transaction, owner);
    const deleted = await run(transaction, zone);
    if (deleted > 0 && zone.kept_since < keptSince) await updateDayZone(transaction, owner, { kept_since: keptSince });
    return deleted;
  });
}

function toDay(instant: Date, rules: string): RawBuilder<string> {
  return localDay(sql`${rules}`, sql`${instant}::timestamptz`);
}
