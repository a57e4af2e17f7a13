import { sql } from "kysely";
import type { OrganizationId, WidgetId } from "#contract/ids.ts";
import { toArrayText } from "../../db/array-text.ts";
import { toBatchRows, toBatchValues } from "../../db/batch-rows.ts";
import { findSettled, OrganizationMoving, toCitusHome } from "../../db/engine.ts";
import type { Db } from "../../db/pool.ts";
import { inOrganization } from "../../db/transactions.ts";
import { outdateVisits } from "../packs/pack-queries.ts";
import { toKeyName } from "./key-id.ts";
import type { VisitPart } from "./merge-touches.ts";
import { type Batch, KEY_COLUMNS, nameKeys, type Recorded, unite, VISIT_COLUMNS } from "./record-statement.ts";
import { toVisitName } from "./touch.ts";

// On Citus, touches of one organization are recorded in one transaction of several statements, because a statement there inserts
// into one table. The steps are those of record-statement.ts, in the same order.

type United = {
  widget_id: WidgetId;
  visit_id: string;
  started_at: Date;
  old_started_at: Date | null;
  new_steps: number;
  keys: number[];
};

export async function recordInSteps(db: Db, owner: OrganizationId, batch: Batch): Promise<Recorded> {
  return await inOrganization(db, owner, async (transaction) => {
    const open = await findSettled(transaction, owner, {
      find: () => lockAndListOpen(transaction, owner, batch),
      isFound: (found) => found !== null,
    });
    const admitted = batch.visits.filter(({ start }) => open?.includes(start.widgetId));
    const united = admitted.length === 0 ? [] : await uniteVisits(transaction, owner, admitted);
    await outdateVisits(
      transaction,
      owner,
      united.flatMap(({ started_at, old_started_at }) => [started_at, old_started_at ?? started_at]),
    );
    const ids = new Set(united.flatMap(({ keys }) => keys));
    const used = batch.newKeys.filter(({ id }) => ids.has(id));
    const keys = toBatchRows("key", KEY_COLUMNS, toBatchValues(KEY_COLUMNS, used));
    if (used.length > 0) await nameKeys(keys, sql`${batch.day}::text`).execute(transaction);
    const created = united.filter(({ old_started_at }) => old_started_at === null);
    return {
      open: open ?? [],
      created: created.map(({ widget_id, visit_id }) => toVisitName({ widgetId: widget_id, visitId: visit_id })),
      new_steps: united.reduce((sum, row) => sum + row.new_steps, 0),
      used: used.map(toKeyName),
    };
  });
}

/** The widgets that record. Null if the organization is gone. */
async function lockAndListOpen(
  transaction: Db,
  owner: OrganizationId,
  { visits, includePaused }: Batch,
): Promise<string[] | null> {
  const { rows } = await sql<{ open: string[] }>`-- prepared: list_open_widgets
    select array(
      select id from widgets where widgets.organization_id = ${owner}
        and id = any(${toArrayText(visits.map(({ start }) => start.widgetId))}::text[])
        and (status = 'active' or ${includePaused}::boolean)
    ) as open
    from visit_progress progress where progress.organization_id = ${owner} for no key update of progress`.execute(
    transaction,
  );
  return rows[0]?.open ?? null;
}

async function uniteVisits(
  transaction: Db,
  owner: OrganizationId,
  visits: readonly VisitPart[],
): Promise<readonly United[]> {
  const columns = VISIT_COLUMNS.slice(1);
  const home = toCitusHome(owner);
  const names = sql.join(columns.map(({ name }) => sql.ref(name)));
  const { rows } = await sql<United>`-- prepared: unite_visits
    ${unite(
      sql`
      select ${home.id}, ${names} from ${toBatchRows("sent", columns, toBatchValues(columns, visits))} ${home.join}
      order by widget_id, visit_id`,
      { returnsAll: true },
    )}`.execute(transaction);
  if (rows.length < visits.length) throw new OrganizationMoving();
  return rows;
}
