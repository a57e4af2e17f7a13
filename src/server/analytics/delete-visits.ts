import { sql } from "kysely";
import { DAY_MS, HOUR_MS } from "#contract/durations.ts";
import type { OrganizationId } from "#contract/ids.ts";
import { table } from "../db/home.ts";
import type { Db } from "../db/pool.ts";
import { inHome } from "../db/transactions.ts";
import { deleteEmptyDays, lockPacks, lockProgress, outdateVisits, updateProgress } from "./packs/pack-queries.ts";
import { lastAt } from "./record/merge-touches.ts";

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
  const keys = await sql`
    delete from ${table("funnel_keys")} where organization_id = ${owner} and id = any(array(
      select id from ${table("funnel_keys")} where organization_id = ${owner} and used_on < ${unusedSince}::date
      limit ${limit}
    )) and used_on < ${unusedSince}::date`.execute(db);
  const deleted = Number(keys.numAffectedRows ?? 0n);
  const drops = await sql`
    delete from ${table("funnel_drops")} where organization_id = ${owner} and ctid = any(array(
      select ctid from ${table("funnel_drops")} where organization_id = ${owner} and hour < ${keptSince} limit ${limit - deleted}
    ))`.execute(db);
  return deleted + Number(drops.numAffectedRows ?? 0n);
}
