import { type RawBuilder, sql } from "kysely";
import { DAY_MS } from "#contract/durations.ts";
import type { OrganizationId } from "#contract/ids.ts";
import type { Db } from "../../db/pool.ts";
import { FixedStatement } from "../../db/run-prepared.ts";
import { assert } from "../../lib/assert.ts";
import { furthest } from "../record/counters.ts";
import { KEY_KINDS, type KeyKind } from "../record/key-id.ts";
import { PACK_VISITS_MAX, toPack, toRecord, type VisitColumns, type VisitPack } from "./visit-pack.ts";

type VisitRange = {
  /** When the visits started; `untilMs` is the first instant after. */
  fromMs: number;
  untilMs: number;
  /** Only visits that booked, or failed to, at this instant or later. */
  convertedSinceMs?: number;
  /** A further condition on funnel_visits. */
  condition?: RawBuilder<unknown> | undefined;
};

/** A pack; none of its visits booked, or failed to, after `lastAt`. Null if none did at all. */
type ReadPack = { pack: VisitPack; lastAt: Date | null };

/** Packs visits straight from their rows, in the order of their start; each pack has visits of one UTC day. */
export async function* readVisits(db: Db, owner: OrganizationId, range: VisitRange): AsyncGenerator<ReadPack> {
  let after: Place | null = null;
  do {
    const { columns, lastAt, lastVisitId } = await selectVisits(db, owner, { range, after });
    const { startedMs, widgets } = columns;
    for (let from = 0; from < startedMs.length; ) {
      const dayMs = toDayMs(startedMs[from] as number);
      const next = startedMs.findIndex((ms, i) => i > from && ms >= dayMs + DAY_MS);
      const until = next === -1 ? startedMs.length : next;
      yield { pack: toPack(dayMs, slice(columns, from, until)), lastAt };
      from = until;
    }
    const isLast = startedMs.length < PACK_VISITS_MAX;
    after = isLast ? null : { ms: startedMs.at(-1) ?? 0, widgetId: widgets.at(-1) ?? "", visitId: lastVisitId };
  } while (after);
}

/** The first instant of the UTC day. */
export function toDayMs(instantMs: number): number {
  return Math.floor(instantMs / DAY_MS) * DAY_MS;
}

function slice(all: VisitColumns, from: number, until: number): VisitColumns {
  if (from === 0 && until === all.startedMs.length) return all;
  const { keys, ...columns } = all;
  return {
    startedMs: columns.startedMs.slice(from, until),
    stages: columns.stages.slice(from, until),
    keys: toRecord((kind) => keys[kind].slice(from, until)),
    widgets: columns.widgets.slice(from, until),
    bookings: columns.bookings.slice(from, until),
    failures: columns.failures.slice(from, until),
  };
}

/** Of a visit, in the order in which visits are read. */
type Place = { ms: number; widgetId: string; visitId: string };

/** Each column as one text: node-postgres takes four times as long to read the same as rows. */
type ColumnsRow = Readonly<Record<KeyKind | "started_ms" | "stages" | "widgets" | "bookings" | "failures", string>> & {
  last_at: Date | null;
  last_visit_id: string;
};

/** Every report that includes today reads such a range. */
const SHORT_MS = DAY_MS;

/** The next visits after the given place. */
async function selectVisits(
  db: Db,
  owner: OrganizationId,
  { range, after }: { range: VisitRange; after: Place | null },
): Promise<{ columns: VisitColumns; lastAt: Date | null; lastVisitId: string }> {
  const { fromMs, untilMs, convertedSinceMs, condition } = range;
  const isShort = untilMs - fromMs <= SHORT_MS && !after && convertedSinceMs === undefined && condition === undefined;
  const [row] = isShort
    ? await selectShort.run(db, { owner, from: new Date(fromMs), until: new Date(untilMs) })
    : (await toLongStatement(owner, { range, after }).execute(db)).rows;
  assert(row, "an aggregate has a row");
  return { columns: toColumns(row), lastAt: row.last_at, lastVisitId: row.last_visit_id };
}

const selectShort = new FixedStatement<ColumnsRow, { owner: OrganizationId; from: Date; until: Date }>(
  ({ owner, from, until }) => sql`-- prepared: select_visits
    ${toStatement(owner, { from: sql`${from}::timestamptz`, until: sql`${until}::timestamptz` })}`,
);

/**
 * Bounds of longer ranges are literals in the text, so that PostgreSQL plans for them: visits that converted later than they
 * started may be found faster by funnel_visits_by_conversion.
 */
function toLongStatement(
  owner: OrganizationId,
  { range, after }: { range: VisitRange; after: Place | null },
): RawBuilder<ColumnsRow> {
  const { fromMs, untilMs, convertedSinceMs, condition } = range;
  const conditions = [
    ...(after
      ? [sql`(started_at, widget_id, visit_id) > (${toLiteral(after.ms)}, ${after.widgetId}, ${after.visitId})`]
      : []),
    ...(convertedSinceMs === undefined ? [] : [sql`converted_at >= ${toLiteral(convertedSinceMs)}`]),
    ...(condition ? [condition] : []),
  ];
  return toStatement(owner, { from: toLiteral(after?.ms ?? fromMs), until: toLiteral(untilMs), conditions });
}

type StatementRange = {
  from: RawBuilder<unknown>;
  until: RawBuilder<unknown>;
  conditions?: readonly RawBuilder<unknown>[];
};

/** Served by funnel_visits_by_start. */
function toStatement(owner: OrganizationId, { from, until, conditions = [] }: StatementRange): RawBuilder<ColumnsRow> {
  return sql<ColumnsRow>`
    select ${joinTexts("widget_id")} as widgets, ${joinTexts("started_ms")} as started_ms, ${joinTexts("stage")} as stages,
      ${sql.join(KEY_KINDS.map((kind) => sql`${joinTexts(kind)} as ${sql.ref(kind)}`))}, ${joinTexts("bookings")} as bookings,
      ${joinTexts("failures")} as failures, max(converted_at) as last_at,
      coalesce((array_agg(visit_id))[count(*)]::text, '') as last_visit_id
    from (
      select widget_id, visit_id, round(date_part('epoch', started_at) * 1000)::bigint as started_ms,
        ${furthest} * 2 + (no_availability_at is not null)::integer as stage,
        ${sql.join(KEY_KINDS.map((kind) => sql.ref(kind)))}, converted_at, bookings, failures
      from funnel_visits
      where organization_id = ${owner} and started_at >= ${from} and started_at < ${until}
        ${sql.join(
          conditions.map((each) => sql`and ${each}`),
          sql` `,
        )}
      order by started_at, widget_id, visit_id limit ${sql.lit(PACK_VISITS_MAX)}
    ) visit`;
}

/** Of numbers, JSON and widget ids. None of them has a comma outside of JSON. */
function joinTexts(column: string): RawBuilder<string> {
  return sql`coalesce(string_agg(coalesce(${sql.ref(column)}::text, 'null'), ','), '')`;
}

function toColumns(row: ColumnsRow): VisitColumns {
  return {
    startedMs: parseList(row.started_ms),
    stages: parseList(row.stages),
    keys: toRecord((kind) => parseList<number>(row[kind])),
    widgets: row.widgets === "" ? [] : row.widgets.split(","),
    bookings: parseList(row.bookings),
    failures: parseList(row.failures),
  };
}

function parseList<Value>(values: string): Value[] {
  return JSON.parse(`[${values}]`) as Value[];
}

function toLiteral(ms: number): RawBuilder<unknown> {
  return sql`${sql.lit(new Date(ms).toISOString())}::timestamptz`;
}
