import { type RawBuilder, sql } from "kysely";
import type { OrganizationId, WidgetId } from "#contract/ids.ts";
import { table } from "../db/home.ts";
import type { Db } from "../db/pool.ts";
import { inHome } from "../db/transactions.ts";
import { lockProgress, outdateVisits } from "./packs/pack-queries.ts";

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
