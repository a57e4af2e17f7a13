import { type RawBuilder, sql } from "kysely";
import { DAY_MS, HOUR_MS } from "#contract/durations.ts";
import type { OrganizationId } from "#contract/ids.ts";
import type { Db } from "../../db/connections/pool.ts";
import { table } from "../../db/home.ts";
import { FixedStatement } from "../../db/statements/run-prepared.ts";
import { assert } from "../../lib/assert.ts";
import type { SlicedWork } from "../../lib/concurrency/sliced-work.ts";
import { PackCache } from "./pack-cache.ts";
import { DAY_HOURS, type Progress, SPAN_DAYS, spanStart } from "./pack-queries.ts";
import { listRuns } from "./pack-visits.ts";
import { type ColumnsRow, readVisits, selectColumns, toDayMs, toPacks } from "./read-visits.ts";
import { ALL_WIDGETS, TotalsReader } from "./totals.ts";
import type { VisitPack } from "./visit-pack.ts";
import { decodePack } from "./visit-pack.ts";

// Everything that analytics counts, in the fewest bytes: totals of days and spans that lie within the window, packs of the other
// days, and the visits themselves where nothing valid is packed. One statement reads what most reports need. The rest is read
// by others, and then all of them need one snapshot.

/** Parts whose bytes are read by one statement: at most a few megabytes. */
const BATCH_PARTS = 32;
/** The first statement reads the parts of a window's edges, unless they are larger together. */
const EDGE_BYTES_MAX = 256 * 1024;

const cache = new PackCache(12 * 1024 ** 2);

type Wanted = {
  owner: OrganizationId;
  /** First instant, and the first one after. */
  startMs: number;
  endMs: number;
  /** Whose totals can answer: a widget's, those of all widgets (""), or nobody's. */
  totalsOf: string | null;
  hasLists: boolean;
};

type Piece = { kind: "totals"; totals: TotalsReader } | { kind: "pack"; pack: VisitPack };

/** A day by its number since 1970. */
type Part = { day: number; part: number; hours: number; digest: string; bytes: number };

export type Packed = {
  wanted: Wanted;
  progress: Progress;
  totals: TotalsReader;
  /** Valid parts that the window needs, by day; and their bytes, if those are few. */
  parts: readonly Part[];
  partsData: Buffer | null;
  /** Covered hours that have no valid pack. */
  unpacked: readonly Span[];
  /** The visits that are not covered, or the first of them. */
  newest: ReturnType<typeof toPacks>;
};

type PartRow = [day: number, part: number, hours: number, digest: string, bytes: number, isNeeded: boolean];
type PackedRow = Progress &
  ColumnsRow & { counts: string; keys: string; days: number[]; parts: PartRow[]; parts_data: string | null };
type PackedValues = Pick<Wanted, "owner" | "totalsOf" | "hasLists"> & {
  start: Date;
  end: Date;
  /** Days that have an instant of the window, and days that lie within it: the first, and the first after. */
  firstDay: string;
  lastDay: string;
  firstWhole: string;
  wholeBefore: string;
};

/**
 * `days`: those of the window, and earlier ones whose visits may have converted in it. `spans`: totals of 30 days, none of which
 * is cut by the window or outdated.
 */
const packedStatement = new FixedStatement<PackedRow, PackedValues>(
  ({
    owner,
    totalsOf,
    hasLists,
    start,
    end,
    firstDay,
    lastDay,
    firstWhole,
    wholeBefore,
  }) => sql`-- prepared: read_packed
    with progress as materialized (
      select kept_since, packed_before from ${table("visit_progress")} where organization_id = ${owner}
    ), days as materialized (
      select day, outdated, ${spanStart(sql`day`)} as span, ${totalsOf}::text is not null and outdated = 0
        and packed_hours = ${sql.lit(DAY_HOURS)} and day >= ${firstWhole}::date and day < ${wholeBefore}::date
        and coalesce(last_at < ${end}, true) as is_whole
      from ${table("visit_days")}
      where organization_id = ${owner} and day <= ${lastDay}::date and (
        day >= ${firstDay}::date or last_at >= ${start} or outdated <> 0 or packed_hours < ${sql.lit(DAY_HOURS)}
      )
    ), spans as materialized (
      select start from ${table("visit_totals")}
      where organization_id = ${owner} and widget_id = ${sql.lit(ALL_WIDGETS)} and days = ${sql.lit(SPAN_DAYS)}
        and start >= ${firstWhole}::date and start <= ${wholeBefore}::date - ${sql.lit(SPAN_DAYS)}
        and ${totalsOf}::text is not null and start not in (select span from days where not is_whole)
    ), parts as materialized (
      select day, part, hours, digest, octet_length(data) as bytes, data,
        day >= ${firstDay}::date or coalesce(pack.last_at >= ${start}, false) as is_needed
      from days cross join lateral (
        select part, hours, digest, data, last_at from ${table("visit_packs", "pack")}
        where organization_id = ${owner} and pack.day = days.day and hours & outdated = 0 offset 0
      ) pack
      where not is_whole
    )
    select kept_since, packed_before, coalesce(totals.counts, '') as counts, coalesce(totals.keys, '') as keys, (
        select coalesce(json_agg(day - date '1970-01-01'), '[]') from days where not is_whole
      ) as days, (
        select coalesce(json_agg(json_build_array(
          day - date '1970-01-01', part, hours, encode(digest, 'base64'), bytes, is_needed
        ) order by day, part), '[]') from parts
      ) as parts, (
        select encode(string_agg(data, '' order by day, part), 'base64') from parts
        where is_needed and (select sum(bytes) from parts where is_needed) <= ${sql.lit(EDGE_BYTES_MAX)}
      ) as parts_data, newest.*
    from progress cross join (
      select encode(string_agg(counts, ''), 'base64') as counts,
        encode(string_agg(case when ${hasLists}::boolean then keys end, ''), 'base64') as keys
      from (
        select ${sql.lit(SPAN_DAYS)} as days, start from spans
        union all select 1, day from days where is_whole and span not in (select start from spans)
      ) wanted join ${table("visit_totals")} using (days, start)
      where organization_id = ${owner} and widget_id = ${totalsOf}
    ) totals cross join lateral (${selectColumns(sql`organization_id = ${owner}
      and started_at >= coalesce(packed_before, '-infinity') and started_at < ${end}
      and (started_at >= ${start} or converted_at >= ${start})`)}
    ) newest`,
);

export async function readPacked(db: Db, wanted: Wanted): Promise<Packed> {
  const { owner, startMs, endMs, totalsOf, hasLists } = wanted;
  const [row] = await packedStatement.run(db, {
    ...{ owner, totalsOf, hasLists, start: new Date(startMs), end: new Date(endMs) },
    ...{ firstDay: toDay(startMs), lastDay: toDay(endMs - 1) },
    ...{ firstWhole: toDay(startMs + DAY_MS - 1), wholeBefore: toDay(endMs) },
  });
  assert(row, "an organization has a row in visit_progress");
  const valid = row.parts.map(([day, part, hours, digest, bytes]) => ({ day, part, hours, digest, bytes }));
  return {
    ...{ wanted, progress: row },
    totals: new TotalsReader({ counts: Buffer.from(row.counts, "base64"), keys: Buffer.from(row.keys, "base64") }),
    parts: valid.filter((_, i) => row.parts[i]?.at(-1)),
    partsData: row.parts_data === null ? null : Buffer.from(row.parts_data, "base64"),
    unpacked: listUnpacked(row.days, { parts: valid, coveredMs: row.packed_before?.getTime() ?? 0 }),
    newest: toPacks(row),
  };
}

/** Whether there is nothing else to read. */
export function isComplete({ parts, partsData, unpacked, newest }: Packed): boolean {
  return (parts.length === 0 || partsData !== null) && unpacked.length === 0 && newest.nextMs === null;
}

/**
 * Each visit that started in the window, or converted since its start, once, and some others. Must be in the same snapshot as
 * `packed`, unless that is complete.
 */
export async function* readPieces(transaction: Db, packed: Packed, sliced: SlicedWork): AsyncGenerator<Piece> {
  const { wanted, totals, parts, partsData, unpacked, newest } = packed;
  while (totals.hasMore) yield { kind: "totals", totals };
  if (partsData) yield* decodeParts(parts, partsData);
  else yield* readParts(transaction, wanted.owner, { parts, sliced });
  for (const { pack } of newest.packs) yield { kind: "pack", pack };
  const rest = newest.nextMs === null ? [] : [{ fromMs: newest.nextMs, untilMs: wanted.endMs }];
  yield* readUnpacked(transaction, wanted, { spans: [...unpacked, ...rest] });
}

type Span = { fromMs: number; untilMs: number };

/** The covered hours of these days that have no valid pack. */
function listUnpacked(
  days: readonly number[],
  { parts, coveredMs }: { parts: readonly Part[]; coveredMs: number },
): Span[] {
  const packedHours = new Map<number, number>();
  for (const { day, hours } of parts) packedHours.set(day, (packedHours.get(day) ?? 0) | hours);
  return days.flatMap((day) =>
    listRuns(~(packedHours.get(day) ?? 0)).flatMap(({ from, until }) => {
      const dayMs = day * DAY_MS;
      const span = { fromMs: dayMs + from * HOUR_MS, untilMs: Math.min(dayMs + until * HOUR_MS, coveredMs) };
      return span.fromMs < span.untilMs ? [span] : [];
    }),
  );
}

/** What is not covered, or without packs. Packs can't check a condition on funnel_visits. */
export async function* readUnpacked(
  transaction: Db,
  { owner, startMs, endMs }: Pick<Wanted, "owner" | "startMs" | "endMs">,
  { spans = ALWAYS, condition }: { spans?: readonly Span[]; condition?: RawBuilder<unknown> | undefined },
): AsyncGenerator<Piece> {
  for (const { fromMs, untilMs: spanEndMs } of joinSpans(spans)) {
    const untilMs = Math.min(spanEndMs, endMs);
    // Visits before the window are needed only if they converted in it.
    const ranges = [
      { fromMs, untilMs: Math.min(untilMs, startMs), convertedSinceMs: startMs },
      { fromMs: Math.max(fromMs, startMs), untilMs },
    ];
    for (const range of ranges)
      if (range.fromMs < range.untilMs)
        for await (const { pack } of readVisits(transaction, owner, { ...range, condition }))
          yield { kind: "pack", pack };
  }
}

/** No visit is older. */
const OLDEST_MS = Date.parse("0001-01-01");
const ALWAYS: readonly Span[] = [{ fromMs: OLDEST_MS, untilMs: Number.POSITIVE_INFINITY }];

/** Neighbours as one. */
function joinSpans(spans: readonly Span[]): Span[] {
  const joined: Span[] = [];
  for (const span of spans.toSorted((a, b) => a.fromMs - b.fromMs)) {
    const last = joined.at(-1);
    if (last?.untilMs === span.fromMs) last.untilMs = span.untilMs;
    else joined.push({ ...span });
  }
  return joined;
}

function* decodeParts(parts: readonly Part[], data: Buffer): Generator<Piece> {
  let from = 0;
  for (const { day, bytes } of parts) {
    yield {
      kind: "pack",
      pack: decodePack(day * DAY_MS, Buffer.from(new Uint8Array(data.subarray(from, from + bytes)).buffer)),
    };
    from += bytes;
  }
}

/** Decoding packs takes as long as counting them, so it has turns. A pack may be used until the next one is asked for. */
async function* readParts(
  transaction: Db,
  owner: OrganizationId,
  { parts, sliced }: { parts: readonly Part[]; sliced: SlicedWork },
): AsyncGenerator<Piece> {
  // Those in memory first. If all have room there, the others are kept too.
  const missing: Part[] = [];
  for (const part of parts) {
    const pack = cache.find(toCacheKey(part));
    if (pack) yield { kind: "pack", pack };
    else missing.push(part);
  }
  const bytes = parts.reduce((sum, part) => sum + part.bytes, 0);
  const isKept = cache.hasRoomFor({ packs: parts.length, bytes });
  // What is not kept is decoded into the same memory, which saves most of the garbage collection.
  let memory = Buffer.alloc(0);
  for (let i = 0; i < missing.length; i += BATCH_PARTS)
    for (const { base64, ...part } of await selectParts(transaction, owner, missing.slice(i, i + BATCH_PARTS))) {
      if (isKept || memory.length < part.bytes)
        memory = Buffer.from(new ArrayBuffer(isKept ? part.bytes : 2 * part.bytes));
      const pack = await sliced.spend(() => {
        memory.write(base64, "base64");
        return decodePack(part.day * DAY_MS, memory.subarray(0, part.bytes));
      });
      if (isKept) cache.keep(toCacheKey(part), { pack, bytes: part.bytes });
      yield { kind: "pack", pack };
    }
}

function toCacheKey({ day, digest }: Pick<Part, "day" | "digest">): string {
  return `${day} ${digest}`;
}

type PartBytes = Pick<Part, "day" | "digest" | "bytes"> & { base64: string };

/** Bytes come as base64: it is shorter than PostgreSQL's hexadecimal digits, and Node reads it four times as fast. */
async function selectParts(transaction: Db, owner: OrganizationId, parts: readonly Part[]): Promise<PartBytes[]> {
  const { rows } = await sql<PartBytes>`-- prepared: select_packs
    select wanted.day, encode(digest, 'base64') as digest, octet_length(data) as bytes, encode(data, 'base64') as base64
    from unnest(${parts.map(({ day }) => day)}::integer[], ${parts.map(({ part }) => part)}::integer[]) as wanted (day, part)
    join ${table("visit_packs", "pack")} on pack.day = date '1970-01-01' + wanted.day and pack.part = wanted.part
    where organization_id = ${owner}`.execute(transaction);
  return rows;
}

function toDay(instantMs: number): string {
  return new Date(toDayMs(instantMs)).toISOString().slice(0, "YYYY-MM-DD".length);
}
