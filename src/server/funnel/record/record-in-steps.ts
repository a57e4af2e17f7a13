import { sql } from "kysely";
import { DAY_MS } from "#contract/durations.ts";
import type { OrganizationId } from "#contract/ids.ts";
import { toArrayText } from "../../db/array-text.ts";
import { findSettled, OrganizationMoving, toCitusHome } from "../../db/engine.ts";
import type { Db } from "../../db/pool.ts";
import { inOrganization } from "../../db/transactions.ts";
import { assert } from "../../lib/assert.ts";
import { addDays } from "../../lib/time/calendar.ts";
import { readSavedRules } from "../../organizations/zone-offsets.ts";
import { outdatePacks } from "../packs/pack-queries.ts";
import { addInSteps, toSideType } from "./add-in-steps.ts";
import { changes, SIDE_COLUMNS } from "./counters.ts";
import { KEY_KINDS } from "./key-id.ts";
import type { VisitPart } from "./merge-touches.ts";
import { type Batch, type ResultRow, toSides, unite, VISIT_COLUMNS } from "./record-statement.ts";

// On Citus, touches of one organization are recorded in one transaction of several statements, because a statement there inserts
// into one table. The steps are those of record-statement.ts, in the same order. Recordings of one organization lock its
// day_zones row against each other too: they would wait for each other's counters anyway, and with share locks that overlap all
// the time, whatever changes how days are counted would never get its turn.

type Zone = {
  version: number;
  rules: string;
  sealed_before: string;
  building_version: number | null;
  building_rules: string | null;
  packed_before: string | null;
};
type Admission = Zone & Pick<ResultRow, "paused" | "over_budget">;

/** A visit's row before and after, as `unite` returns it. */
type United = { widget_id: string; visit_id: string; is_new: boolean; new_steps: number; moves_end: boolean } & {
  started_at: Date;
  old_started_at: Date | null;
} & Record<(typeof KEY_KINDS)[number], number>;

export async function recordInSteps(db: Db, batch: Batch): Promise<ResultRow> {
  const owner = batch.visits[0]?.start.organizationId;
  assert(owner, "a batch has visits");
  return await inOrganization(db, owner, async (transaction) => {
    const admission = await findSettled(transaction, owner, {
      find: () => lockAndAdmit(transaction, owner, batch),
      isFound: (found) => found !== null,
    });
    const all = batch.visits.map((_, index) => index);
    if (!admission) return { paused: all, over_budget: [], recorded_before: [], new_steps: 0 };
    const { paused, over_budget, ...zone } = admission;
    const refused = new Set([...paused, ...over_budget]);
    const admitted = batch.visits.filter((_, index) => !refused.has(index));
    const rows = admitted.length === 0 ? [] : await uniteVisits(transaction, owner, admitted);
    const united = rows.filter(changesCounters);
    if (united.length > 0) {
      await nameKeys(transaction, owner, { batch, united });
      await count(transaction, owner, { batch, zone, united });
      await outdatePacks(transaction, owner, listPackedDays(zone, united));
    }
    const created = new Set(united.filter(({ is_new }) => is_new).map(toVisitKey));
    const closed = new Set(paused);
    return {
      paused,
      over_budget,
      recorded_before: all.filter((index) => {
        const { start } = batch.visits[index] as VisitPart;
        return !closed.has(index) && !created.has(toVisitKey({ widget_id: start.widgetId, visit_id: start.visitId }));
      }),
      // Not only of `united`: a view may be a new step, but changes no counter.
      new_steps: rows.reduce((sum, row) => sum + row.new_steps, 0),
    };
  });
}

function toVisitKey({ widget_id, visit_id }: Pick<United, "widget_id" | "visit_id">): string {
  return `${widget_id} ${visit_id}`;
}

function toColumn(visits: readonly VisitPart[], name: string): string {
  const column = VISIT_COLUMNS.find((each) => each.name === name);
  assert(column, "the names are those of VISIT_COLUMNS");
  return toArrayText(visits.map(column.read));
}

/** Null if the organization is gone. */
async function lockAndAdmit(
  transaction: Db,
  owner: OrganizationId,
  { visits, includePaused }: Batch,
): Promise<Admission | null> {
  const mayStart = toArrayText(visits.map((visit) => (visit.mayStart ? "t" : "f")));
  const { rows } = await sql<Admission>`-- prepared: admit_touches
    with sent as materialized (
      select visit.widget_id, visit.visit_id, may_start, number,
        widgets.id is not null and (widgets.status = 'active' or ${includePaused}::boolean) as is_open
      from unnest(${toColumn(visits, "widget_id")}::text[], ${toColumn(visits, "visit_id")}::uuid[], ${mayStart}::boolean[])
        with ordinality as visit (widget_id, visit_id, may_start, number)
      left join widgets on widgets.organization_id = ${owner} and widgets.id = visit.widget_id
    )
    select version, rules, spans_sealed_before as sealed_before, building_version, building_rules, packed_before,
      array(select (number - 1)::integer from sent where not is_open) as paused,
      array(select (number - 1)::integer from sent where is_open and not may_start and not exists (
        select from funnel_visits stored where stored.organization_id = ${owner}
          and stored.widget_id = sent.widget_id and stored.visit_id = sent.visit_id
      )) as over_budget
    from day_zones zone where zone.organization_id = ${owner} for no key update of zone`.execute(transaction);
  return rows[0] ?? null;
}

async function uniteVisits(
  transaction: Db,
  owner: OrganizationId,
  visits: readonly VisitPart[],
): Promise<readonly United[]> {
  const names = VISIT_COLUMNS.map(({ name }) => name).slice(1);
  const home = toCitusHome(owner);
  const arrays = VISIT_COLUMNS.slice(1).map(({ name, type }) => sql`${toColumn(visits, name)}::${sql.raw(type)}[]`);
  const columns = sql.join(names.map((name) => sql.ref(name)));
  const { rows } = await sql<United>`-- prepared: unite_visits
    ${unite(
      sql`
      select ${home.id}, ${columns}
      from unnest(${sql.join(arrays)}) as sent (${columns}) ${home.join}
      order by widget_id, visit_id`,
      { returnsAll: true },
    )}`.execute(transaction);
  if (rows.length < visits.length) throw new OrganizationMoving();
  return rows;
}

function changesCounters(row: United): boolean {
  const sides = row as Readonly<Record<string, unknown>>;
  // Packs say when their visits end.
  return (
    row.moves_end || SIDE_COLUMNS.some((name) => JSON.stringify(sides[name]) !== JSON.stringify(sides[`old_${name}`]))
  );
}

async function nameKeys(
  transaction: Db,
  owner: OrganizationId,
  { batch, united }: { batch: Batch; united: readonly United[] },
): Promise<void> {
  const used = new Set(united.flatMap((row) => KEY_KINDS.map((kind) => row[kind])));
  const keys = batch.newKeys.filter(({ id }) => used.has(id));
  if (keys.length === 0) return;
  const home = toCitusHome(owner);
  await sql`-- prepared: name_keys
    insert into funnel_keys as stored (organization_id, id, kind, key, used_on)
    select ${home.id}, named.id, named.kind, named.key, ${batch.now.toISOString()}::date
    from jsonb_to_recordset(${JSON.stringify(keys)}::jsonb) as named (id bigint, kind smallint, key text) ${home.join}
    order by named.id
    on conflict (organization_id, id) do update set used_on = excluded.used_on where stored.used_on < excluded.used_on`.execute(
    transaction,
  );
}

/** The columns of `united` that counting reads, with their types. */
const UNITED_COLUMNS = [
  ...["organization_id text", "widget_id text", "is_new boolean", "moves_keys boolean"],
  ...SIDE_COLUMNS.flatMap((name) => [`${name} ${toSideType(name)}`, `old_${name} ${toSideType(name)}`]),
].join(", ");

async function count(
  transaction: Db,
  owner: OrganizationId,
  { batch, zone, united }: { batch: Batch; zone: Zone; united: readonly United[] },
): Promise<void> {
  const offsets = await listOffsets(transaction, { batch, zone, united });
  // The table's name stands for these few rows, so that Citus leaves the statement to PostgreSQL, which plans it once.
  const counted = sql`-- prepared: count_changes
    with zone_offsets as materialized (
      select rules, to_timestamp(from_ms / 1000) as from_at, to_timestamp(until_ms / 1000) as until_at,
        make_interval(secs => seconds) as shift
      from unnest(
        ${offsets.map(({ rules }) => rules)}::text[], ${offsets.map(({ fromMs }) => fromMs)}::float8[],
        ${offsets.map(({ untilMs }) => untilMs)}::float8[], ${offsets.map(({ seconds }) => seconds)}::float8[]
      ) as period (rules, from_ms, until_ms, seconds)
    ), zones as (
      select ${owner}::text as organization_id, ${zone.version}::integer as version, ${zone.rules}::text as rules,
        ${zone.sealed_before}::date as sealed_before, ${zone.building_version}::integer as building_version,
        ${zone.building_rules}::text as building_rules
    ), united as materialized (
      select united.* from jsonb_to_recordset(${JSON.stringify(united)}::jsonb) as united (${sql.raw(UNITED_COLUMNS)})
    ), ${toSides(sql`${batch.latest.toISOString()}::timestamptz`)}
    ), ${changes}`;
  await addInSteps(transaction, owner, { counted, condition: sql`true`, includeSpans: reachesSpans(zone, united) });
}

type Offset = { rules: string; fromMs: number; untilMs: number; seconds: number };

/** The offsets of the zone's rules that apply to these visits: their steps are neither before their start nor in the future. */
async function listOffsets(
  transaction: Db,
  { batch, zone, united }: { batch: Batch; zone: Zone; united: readonly United[] },
): Promise<Offset[]> {
  const starts = united.flatMap(({ started_at, old_started_at }) => [started_at, old_started_at ?? started_at]);
  const firstMs = Math.min(batch.latest.getTime(), ...starts.map((at) => at.getTime()));
  const lastMs = Math.max(batch.latest.getTime(), batch.now.getTime()) + CLOCK_MARGIN_MS;
  const listed: Offset[] = [];
  for (const rules of new Set([zone.rules, zone.building_rules ?? zone.rules]))
    for (const offset of (await readSavedRules(transaction, rules)).offsets)
      if (offset.untilMs > firstMs && offset.fromMs <= lastMs) listed.push({ ...offset, rules });
  return listed;
}

/** Clocks of other processes may be ahead. */
const CLOCK_MARGIN_MS = 366 * DAY_MS;

/** Nearly every visit started after the spans that are sealed. A local day is less than two days from any of its instants. */
function reachesSpans(zone: Zone, united: readonly United[]): boolean {
  const sealedMs = Date.parse(zone.sealed_before) + 2 * DAY_MS;
  return united.some(({ started_at, old_started_at }) =>
    [started_at, old_started_at].some((at) => at !== null && at.getTime() < sealedMs),
  );
}

/** The days before packed_before on which visits start, or did before. */
function listPackedDays({ packed_before }: Zone, united: readonly United[]): string[] {
  return united
    .flatMap(({ started_at, old_started_at }) => [started_at, old_started_at])
    .flatMap((at) => (at === null ? [] : [addDays(at.toISOString(), 0)]))
    .filter((day) => packed_before !== null && day < packed_before);
}
