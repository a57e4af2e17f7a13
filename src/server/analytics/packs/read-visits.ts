import { type RawBuilder, sql } from "kysely";
import { DAY_MS } from "#contract/durations.ts";
import type { OrganizationId } from "#contract/ids.ts";
import type { Db } from "../../db/connections/pool.ts";
import { table } from "../../db/home.ts";
import { assert } from "../../lib/assert.ts";
import { KEY_KINDS, type KeyKind } from "../record/key-id.ts";
import { furthest } from "../record/merge-hits.ts";
import {
  type Conversions,
  PACK_VISITS_MAX,
  toPack,
  toRecord,
  type VisitColumns,
  type VisitPack,
} from "./visit-pack.ts";

type VisitRange = {
  /** When the visits started; `untilMs` is the first instant after. */
  fromMs: number;
  untilMs: number;
  /** Only visits that booked, or failed to, at this instant or later. */
  convertedSinceMs?: number;
  /** A further condition on funnel_visits. */
  condition?: RawBuilder<unknown> | undefined;
};

/** Read at a time, and those that started in the same millisecond as the last of them: few enough to fit into one pack. */
export const PAGE_VISITS = PACK_VISITS_MAX - 96;

/** A pack; none of its visits booked, or failed to, after `lastAt`. Null if none did at all. */
type ReadPack = { pack: VisitPack; lastAt: Date | null };

/** Packs visits straight from their rows, in the order of their start; each pack has visits of one UTC day. */
export async function* readVisits(db: Db, owner: OrganizationId, range: VisitRange): AsyncGenerator<ReadPack> {
  for (let fromMs: number | null = range.fromMs; fromMs !== null; ) {
    const { packs, nextMs } = toPacks(await selectVisits(db, owner, { ...range, fromMs }));
    yield* packs;
    fromMs = nextMs;
  }
}

/** At least one pack for each day, and where to read on if there may be more. */
export function toPacks(row: ColumnsRow): { packs: ReadPack[]; nextMs: number | null } {
  const columns = toColumns(row);
  const { startedMs } = columns;
  const packs: ReadPack[] = [];
  for (let from = 0; from < startedMs.length; ) {
    const dayMs = toDayMs(startedMs[from] as number);
    const next = startedMs.findIndex((ms, i) => i > from && ms >= dayMs + DAY_MS);
    const until = Math.min(next === -1 ? startedMs.length : next, from + PACK_VISITS_MAX);
    packs.push({ pack: toPack(dayMs, slice(columns, from, until)), lastAt: row.last_at });
    from = until;
  }
  return { packs, nextMs: startedMs.length < PAGE_VISITS ? null : (startedMs.at(-1) as number) + 1 };
}

/** The first instant of the UTC day. */
export function toDayMs(instantMs: number): number {
  return Math.floor(instantMs / DAY_MS) * DAY_MS;
}

function slice(all: VisitColumns, from: number, until: number): VisitColumns {
  if (from === 0 && until === all.startedMs.length) return all;
  const conversions = (of: VisitColumns["bookings"]) =>
    of.filter(({ visit }) => visit >= from && visit < until).map((each) => ({ ...each, visit: each.visit - from }));
  return {
    startedMs: all.startedMs.slice(from, until),
    stages: all.stages.slice(from, until),
    keys: toRecord((kind) => all.keys[kind].slice(from, until)),
    widgets: all.widgets.slice(from, until),
    bookings: conversions(all.bookings),
    failures: conversions(all.failures),
  };
}

/**
 * Numbers come as one value per column: eight bytes each in base64, which PostgreSQL and Node handle several times as fast as
 * rows or digits. Few visits have conversions, so those come by the visit's index.
 */
export type ColumnsRow = Readonly<
  Record<KeyKind | "started_ms" | "stages" | "widgets" | "bookings" | "failures", string>
> & { last_at: Date | null };

/**
 * The next visits. Not prepared, so that PostgreSQL plans for the bounds: visits that converted later than they started may be found
 * faster by funnel_visits_by_conversion.
 */
async function selectVisits(db: Db, owner: OrganizationId, range: VisitRange): Promise<ColumnsRow> {
  const { fromMs, untilMs, convertedSinceMs, condition } = range;
  const toInstant = (ms: number) => sql`${new Date(ms).toISOString()}::timestamptz`;
  const conditions = [
    sql`organization_id = ${owner} and started_at >= ${toInstant(fromMs)} and started_at < ${toInstant(untilMs)}`,
    ...(convertedSinceMs === undefined ? [] : [sql`converted_at >= ${toInstant(convertedSinceMs)}`]),
    ...(condition ? [condition] : []),
  ];
  const { rows } = await selectColumns(sql.join(conditions, sql` and `)).execute(db);
  const [row] = rows;
  assert(row, "an aggregate has a row");
  return row;
}

/** The first visits that meet a condition, in one row. Sorting them by more than the index does would take longer than reading them. */
export function selectColumns(condition: RawBuilder<unknown>): RawBuilder<ColumnsRow> {
  return sql<ColumnsRow>`
    select coalesce(string_agg(widget_id, ','), '') as widgets, ${joinNumbers("started_ms")} as started_ms,
      ${joinNumbers("stage")} as stages, ${sql.join(KEY_KINDS.map((kind) => sql`${joinNumbers(kind)} as ${sql.ref(kind)}`))},
      ${joinConversions("bookings")} as bookings, ${joinConversions("failures")} as failures,
      max(converted_at) as last_at
    from (
      select widget_id, date_part('epoch', started_at) * 1000 as started_ms,
        ${furthest} * 2 + (no_availability_at is not null)::integer as stage,
        ${sql.join(KEY_KINDS.map((kind) => sql.ref(kind)))}, converted_at, bookings, failures,
        row_number() over (order by started_at) - 1 as visit
      from ${table("funnel_visits")} where ${condition}
      order by started_at fetch first ${sql.lit(PAGE_VISITS)} rows with ties
    ) visit`;
}

function joinNumbers(column: string): RawBuilder<string> {
  return sql`encode(string_agg(float8send(${sql.ref(column)}::float8), ''), 'base64')`;
}

/** JSON: pairs of a visit's index and its conversions. */
function joinConversions(column: string): RawBuilder<string> {
  return sql`coalesce(string_agg('[' || visit || ',' || ${sql.ref(column)} || ']', ',') filter (where ${sql.ref(column)} is not null), '')`;
}

function toColumns(row: ColumnsRow): VisitColumns {
  return {
    startedMs: readNumbers(row.started_ms).map(Math.round),
    stages: readNumbers(row.stages),
    keys: toRecord((kind) => readNumbers(row[kind])),
    widgets: row.widgets === "" ? [] : row.widgets.split(","),
    bookings: readConversions(row.bookings),
    failures: readConversions(row.failures),
  };
}

function readNumbers(base64: string | null): Float64Array {
  const bytes = Buffer.from(base64 ?? "", "base64").swap64();
  return new Float64Array(Uint8Array.from(bytes).buffer);
}

function readConversions(pairs: string): VisitColumns["bookings"] {
  const listed = JSON.parse(`[${pairs}]`) as [visit: number, conversions: Conversions][];
  return listed.flatMap(([visit, conversions]) => Object.values(conversions).map((times) => ({ visit, times })));
}
