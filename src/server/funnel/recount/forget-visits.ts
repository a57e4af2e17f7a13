import { type RawBuilder, sql } from "kysely";
import type { OrganizationId, WidgetId } from "#contract/ids.ts";
import type { Db } from "../../db/pool.ts";
import { inOrganization } from "../../db/transactions.ts";
import { addDays } from "../../lib/time/calendar.ts";
import { outdatePacks } from "../packs/pack-queries.ts";
import { addInSteps, toSideType } from "../record/add-in-steps.ts";
import { changes, SIDE_COLUMNS } from "../record/counters.ts";
import { selectPeriod } from "../record/local-day.ts";
import { lockDayZone } from "./day-zone.ts";

type VisitsToForget = {
  widgetId: WidgetId;
  now: Date;
  /** A condition on a row of funnel_visits, called `visit`. */
  where: RawBuilder<unknown>;
};

/** Few enough that recording, which waits meanwhile, hardly notices. */
const BATCH_VISITS = 2_000;

/** Deletes a widget's visits and takes exactly them out of the counters and packs. Returns how many. */
export async function forgetVisits(db: Db, owner: OrganizationId, visits: VisitsToForget): Promise<number> {
  let total = 0;
  let batch: { count: number; last: string | null } = { count: BATCH_VISITS, last: null };
  while (batch.count === BATCH_VISITS) {
    const { last: after } = batch;
    batch = await inOrganization(db, owner, async (transaction) => {
      await lockDayZone(transaction, owner);
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
  { widgetId, now, where, after }: VisitsToForget & { after: string | null },
): Promise<{ count: number; last: string | null }> {
  const { rows: gone } = await sql<{ visit_id: string; started_at: Date }>`
    delete from funnel_visits where organization_id = ${owner} and widget_id = ${widgetId} and visit_id = any(array(
      select visit_id from funnel_visits visit
      where organization_id = ${owner} and widget_id = ${widgetId}
        and ${after === null ? sql`true` : sql`visit_id > ${after}::uuid`} and ${where}
      order by visit_id limit ${sql.lit(BATCH_VISITS)}
    ))
    returning organization_id, widget_id, visit_id, ${SIDES}`.execute(transaction);
  if (gone.length === 0) return { count: 0, last: null };
  const counted = sql`
    with gone as (
      select gone.* from jsonb_to_recordset(${JSON.stringify(gone)}::jsonb) as gone (${GONE_COLUMNS})
    ), sets as (
      select counted.organization_id, counted.version, day_rules, counted.sealed_before, period_from, period_until, shift
      from (
        select organization_id, version, rules as day_rules, spans_sealed_before as sealed_before from day_zones
        where organization_id = ${owner}
        union all
        select organization_id, building_version, building_rules, date '1970-01-01' from day_zones
        where organization_id = ${owner} and building_version is not null
      ) counted
      cross join lateral (${selectPeriod(sql`day_rules`, sql`${now}::timestamptz`)}) period
    ), sides as materialized (
      select sets.*, widget_id, -1 as sign, true as moves_keys, ${SIDES} from gone join sets using (organization_id)
    ), ${changes}`;
  await addInSteps(transaction, owner, { counted, condition: sql`true`, includeSpans: true });
  await outdatePacks(
    transaction,
    owner,
    gone.map(({ started_at }) => addDays(started_at.toISOString(), 0)),
  );
  const last = gone.reduce((latest, { visit_id }) => (visit_id > latest ? visit_id : latest), "");
  return { count: gone.length, last };
}

const SIDES = sql.join(SIDE_COLUMNS.map((name) => sql.ref(name)));
const GONE_COLUMNS = sql.raw(
  ["organization_id text, widget_id text", ...SIDE_COLUMNS.map((name) => `${name} ${toSideType(name)}`)].join(", "),
);
