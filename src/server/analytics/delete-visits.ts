import { type RawBuilder, sql } from "kysely";
import { DAY_MS, HOUR_MS } from "#contract/durations.ts";
import type { OrganizationId, WidgetId } from "#contract/ids.ts";
import type { Db } from "../db/connections/pool.ts";
import { table } from "../db/home.ts";
import { inHome } from "../db/statements/transactions.ts";
import { deleteEmptyDays, lockPacks, lockProgress, outdateVisits, updateProgress } from "./packs/pack-queries.ts";
import { KEY_KINDS } from "./record/key-id.ts";
import { lastAt } from "./record/merge-hits.ts";

// Retention of visits and what belongs to them. Reports show whole local days, and the time zone may change, so a visit is deleted
// only when the kept days of every time zone are over. visit_progress.kept_since remembers since when visits are complete: no day
// that begins earlier is shown, even after a move to a longer plan, unless an import brings it back.

type Batch = { keptSince: Date; limit: number };

/** A local day starts at most this long before any of its instants: where clocks are put back, it has 25 hours. */
const DAY_LENGTH_MAX_MS = 26 * HOUR_MS;

/** Deletes the oldest visits that ended before the kept days, at most `limit`. Returns how many. */
export async function deleteExpiredVisits(db: Db, owner: OrganizationId, { keptSince, limit }: Batch): Promise<number> {
  const completeSince = new Date(keptSince.getTime() - DAY_LENGTH_MAX_MS);
  return await inHome(db, owner, async (transaction) => {
    await lockPacks(transaction, owner);
    const { kept_since } = await lockProgress(transaction, owner);
    const { rows } = await sql<{ started_at: Date }>`
      delete from ${table("funnel_visits")} where organization_id = ${owner} and ctid = any(array(
        select ctid from ${table("funnel_visits")}
        where organization_id = ${owner} and started_at < ${completeSince} and ${lastAt} < ${completeSince}
        order by started_at limit ${limit}
      ))
      returning started_at`.execute(transaction);
    if (rows.length === 0) return 0;
    await outdateVisits(
      transaction,
      owner,
      rows.map(({ started_at }) => started_at),
    );
    await deleteEmptyDays(transaction, owner);
    if (kept_since < completeSince) await updateProgress(transaction, owner, { kept_since: completeSince });
    return rows.length;
  });
}

/** Shows days again that retention had deleted, if an import has brought visits of then. */
export async function showSince(db: Db, owner: OrganizationId, oldest: Date): Promise<void> {
  await inHome(db, owner, async (transaction) => {
    const { kept_since } = await lockProgress(transaction, owner);
    const shownSince = new Date(oldest.getTime() - DAY_LENGTH_MAX_MS);
    if (shownSince < kept_since) await updateProgress(transaction, owner, { kept_since: shownSince });
  });
}

/** Keys in use are marked every day, and marks older than a day are never relied on (known-keys.ts). */
const MARK_MARGIN_MS = DAY_LENGTH_MAX_MS + 2 * DAY_MS;

/** Deletes texts that no visit can use, and counts of dropped events, at most `limit`. */
export async function deleteUnusedKeys(db: Db, owner: OrganizationId, { keptSince, limit }: Batch): Promise<number> {
  const unusedSince = new Date(keptSince.getTime() - MARK_MARGIN_MS).toISOString();
  const completeSince = new Date(keptSince.getTime() - DAY_LENGTH_MAX_MS);
  const keys = await sql`
    delete from ${table("funnel_keys")} where organization_id = ${owner} and id = any(array(
      select id from ${table("funnel_keys")} where organization_id = ${owner} and used_on < ${unusedSince}::date
        -- A visit keeps its first keys, and may have booked long after they were marked.
        and id not in (
          select key from ${table("funnel_visits")} cross join lateral unnest(array[${sql.join(KEY_KINDS.map((kind) => sql.ref(kind)))}]) key
          where organization_id = ${owner} and started_at < ${completeSince} and key is not null
        )
      limit ${limit}
    )) and used_on < ${unusedSince}::date`.execute(db);
  const deleted = Number(keys.numAffectedRows ?? 0n);
  const drops = await sql`
    delete from ${table("funnel_drops")} where organization_id = ${owner} and ctid = any(array(
      select ctid from ${table("funnel_drops")} where organization_id = ${owner} and hour < ${keptSince} limit ${limit - deleted}
    ))`.execute(db);
  return deleted + Number(drops.numAffectedRows ?? 0n);
}

type VisitsToForget = {
  widgetId: WidgetId;
  /** A condition on a row of funnel_visits, called `visit`. */
  where: RawBuilder<unknown>;
};

/** Few enough that recording, which waits meanwhile, hardly notices. */
const BATCH_VISITS = 2_000;

/** Deletes a widget's visits and takes them out of the packs. Returns how many. */
export async function forgetVisits(db: Db, owner: OrganizationId, visits: VisitsToForget): Promise<number> {
  let total = 0;
  let batch: { count: number; last: string | null } = { count: BATCH_VISITS, last: null };
  while (batch.count === BATCH_VISITS) {
    const { last: after } = batch;
    batch = await inHome(db, owner, async (transaction) => {
      await lockProgress(transaction, owner);
      return await forgetBatch(transaction, owner, { ...visits, after });
    });
    total += batch.count;
  }
  return total;
}

/** In the order of the primary key, so that all batches together read the widget's visits once. */
async function forgetBatch(
  transaction: Db,
  owner: OrganizationId,
  { widgetId, where, after }: VisitsToForget & { after: string | null },
): Promise<{ count: number; last: string | null }> {
  const { rows: gone } = await sql<{ visit_id: string; started_at: Date }>`
    delete from ${table("funnel_visits")} where organization_id = ${owner} and widget_id = ${widgetId} and visit_id = any(array(
      select visit_id from ${table("funnel_visits", "visit")}
      where organization_id = ${owner} and widget_id = ${widgetId}
        and ${after === null ? sql`true` : sql`visit_id > ${after}::uuid`} and ${where}
      order by visit_id limit ${sql.lit(BATCH_VISITS)}
    ))
    returning visit_id, started_at`.execute(transaction);
  await outdateVisits(
    transaction,
    owner,
    gone.map(({ started_at }) => started_at),
  );
  const last = gone.reduce<string | null>(
    (max, { visit_id }) => (max === null || visit_id > max ? visit_id : max),
    null,
  );
  return { count: gone.length, last };
}
