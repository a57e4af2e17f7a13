import { type RawBuilder, sql } from "kysely";
import { DAY_MS, HOUR_MS } from "#contract/durations.ts";
import type { OrganizationId } from "#contract/ids.ts";
import { table } from "../../db/home.ts";
import type { Db } from "../../db/pool.ts";
import { assert } from "../../lib/assert.ts";
import type { Turns } from "../../lib/concurrency/turns.ts";
import { PackCache } from "./pack-cache.ts";
import { decodePack } from "./pack-format.ts";
import { DAY_HOURS, type Progress, SPAN_DAYS } from "./pack-queries.ts";
import { listRuns } from "./pack-visits.ts";
import { readVisits, toDayMs } from "./read-visits.ts";
import { ALL_WIDGETS } from "./totals.ts";
import type { TotalsBytes } from "./totals-format.ts";
import type { VisitPack } from "./visit-pack.ts";

// Everything that analytics counts, in the fewest bytes: totals of days and spans that lie within the window, packs of the other
// days, and the visits themselves where nothing valid is packed. All of it must be read in one snapshot.

/** Parts whose bytes are read by one statement: at most a few megabytes. */
const BATCH_PARTS = 32;

const cache = new PackCache(12 * 1024 ** 2);

type Wanted = {
  owner: OrganizationId;
  /** First instant, and the first one after. */
  startMs: number;
  endMs: number;
  /** A condition on funnel_visits. Packs can't check it, so with it all visits are read. */
  condition?: RawBuilder<unknown> | undefined;
  /** Whose totals can answer: a widget's, those of all widgets (""), or nobody's, because of filters. */
  totalsOf: string | null;
  /** Whether everything between two instants, the last included, counts alike. */
  isWhole: (fromMs: number, untilMs: number) => boolean;
  hasLists: boolean;
};

type Piece = { kind: "totals"; totals: TotalsBytes } | { kind: "pack"; pack: VisitPack };

type DayRow = { dayMs: number; isPacked: boolean; lastMs: number };

/** What is packed of the days that a window needs. */
type Packed = { progress: Progress; days: readonly DayRow[]; spans: ReadonlySet<number> };

/** Each visit that started in the window, or converted since its start, once, and some others. */
export async function* readPieces(
  transaction: Db,
  wanted: Wanted,
  { packed, turns }: { packed: Packed; turns: Turns },
): AsyncGenerator<Piece> {
  const coveredMs = wanted.condition ? null : (packed.progress.packed_before?.getTime() ?? null);
  if (coveredMs === null) {
    yield* readUnpacked(transaction, wanted, [{ fromMs: Number.NEGATIVE_INFINITY, untilMs: wanted.endMs }]);
    return;
  }
  const days = packed.days.filter(({ dayMs, isPacked, lastMs }) => {
    return !isPacked || lastMs >= wanted.startMs || dayMs >= toDayMs(wanted.startMs);
  });
  const [whole, others] = wanted.totalsOf === null ? [[], days] : splitDays(wanted, days);
  const { totals, parts } = await readDays(transaction, wanted, { whole, others, spans: packed.spans });
  for (const { counts, keys } of totals)
    yield { kind: "totals", totals: { counts: Buffer.from(counts, "base64"), keys: Buffer.from(keys, "base64") } };
  yield* readParts(transaction, wanted.owner, { parts: parts.filter(({ isNeeded }) => isNeeded), turns });
  const unpacked = listUnpacked(others, { parts, coveredMs });
  yield* readUnpacked(transaction, wanted, [...unpacked, { fromMs: coveredMs, untilMs: wanted.endMs }]);
}

/** Days of the window, and earlier ones whose visits may have converted in it. The window may turn out shorter. */
export async function findPacked(
  transaction: Db,
  { owner, startMs, endMs }: Pick<Wanted, "owner" | "startMs" | "endMs">,
): Promise<Packed> {
  type Row = Progress & { days: [number, boolean, number | null][]; spans: number[] };
  const { rows } = await sql<Row>`-- prepared: find_packed
    select kept_since, packed_before, (
      select coalesce(json_agg(json_build_array(
        day - date '1970-01-01', outdated = 0 and packed_hours = ${sql.lit(DAY_HOURS)}, round(date_part('epoch', last_at) * 1000)
      )), '[]')
      from ${table("visit_days")}
      where organization_id = ${owner} and day <= ${toDay(endMs - 1)}::date and (
        day >= ${toDay(startMs)}::date or last_at >= ${new Date(startMs)} or outdated <> 0 or packed_hours < ${sql.lit(DAY_HOURS)}
      )
    ) as days, (
      select coalesce(json_agg(start - date '1970-01-01'), '[]') from ${table("visit_totals")}
      where organization_id = ${owner} and widget_id = ${sql.lit(ALL_WIDGETS)} and days = ${sql.lit(SPAN_DAYS)}
        and start >= ${toDay(startMs)}::date and start < ${toDay(endMs)}::date
    ) as spans
    from ${table("visit_progress")} where organization_id = ${owner}`.execute(transaction);
  const [row] = rows;
  assert(row, "an organization has a row in visit_progress");
  const { days, spans, ...progress } = row;
  return {
    progress,
    days: days.map(([number, isPacked, lastMs]) => {
      const dayMs = number * DAY_MS;
      return { dayMs, isPacked, lastMs: Math.max(dayMs + DAY_MS - 1, lastMs ?? dayMs) };
    }),
    spans: new Set(spans.map((number) => number * DAY_MS)),
  };
}

/** Days whose totals count as a whole, and the others. */
function splitDays({ isWhole }: Wanted, days: readonly DayRow[]): [DayRow[], DayRow[]] {
  const hasTotals = ({ dayMs, isPacked, lastMs }: DayRow) => isPacked && isWhole(dayMs, lastMs);
  return [days.filter(hasTotals), days.filter((day) => !hasTotals(day))];
}

type Totals = { counts: string; keys: string };
type Part = { day: string; part: number; hours: number; digest: string; bytes: number; isNeeded: boolean };

/** Totals of 30 days where all of them count, of single days elsewhere; and the valid packs of the other days. */
async function readDays(
  transaction: Db,
  wanted: Wanted,
  { whole, others, spans }: { whole: readonly DayRow[]; others: readonly DayRow[]; spans: Packed["spans"] },
): Promise<{ totals: Totals[]; parts: Part[] }> {
  const { owner, startMs, totalsOf, hasLists } = wanted;
  if (whole.length + others.length === 0) return { totals: [], parts: [] };
  const cut = new Set(others.map(({ dayMs }) => toSpanMs(dayMs)));
  const isWhole = (spanMs: number) =>
    spans.has(spanMs) && !cut.has(spanMs) && wanted.isWhole(spanMs, spanMs + SPAN_DAYS * DAY_MS - 1);
  const wholeSpans = new Set(whole.map(({ dayMs }) => toSpanMs(dayMs)).filter(isWhole));
  const single = whole.filter(({ dayMs }) => !wholeSpans.has(toSpanMs(dayMs)));
  const { rows } = await sql<Totals | (Part & { counts: null })>`-- prepared: read_days
    select null::date as day, null::integer as part, null::integer as hours, null as digest, null::integer as bytes,
      null::boolean as "isNeeded", encode(counts, 'base64') as counts,
      case when ${hasLists}::boolean then encode(keys, 'base64') else '' end as keys
    from unnest(
      ${[...[...wholeSpans].map(() => SPAN_DAYS), ...single.map(() => 1)]}::integer[],
      ${[...[...wholeSpans], ...single.map(({ dayMs }) => dayMs)].map(toDay)}::date[]
    ) as wanted (days, start)
    join ${table("visit_totals")} using (days, start)
    where organization_id = ${owner} and widget_id = ${totalsOf}
    union all
    select day, part, hours, encode(digest, 'base64'), octet_length(data),
      day >= ${toDay(startMs)}::date or coalesce(pack.last_at >= ${new Date(startMs)}, false), null, null
    from ${table("visit_days")} join ${table("visit_packs", "pack")} using (organization_id, day)
    where organization_id = ${owner} and day = any(${others.map(({ dayMs }) => toDay(dayMs))}::date[]) and hours & outdated = 0`.execute(
    transaction,
  );
  return { totals: rows.filter((row) => row.counts !== null), parts: rows.filter((row) => row.counts === null) };
}

/** A multiple of 30 days since 1970. */
function toSpanMs(dayMs: number): number {
  return Math.floor(dayMs / (SPAN_DAYS * DAY_MS)) * SPAN_DAYS * DAY_MS;
}

type Span = { fromMs: number; untilMs: number };

/** The covered hours of these days that have no valid pack. */
function listUnpacked(
  days: readonly DayRow[],
  { parts, coveredMs }: { parts: readonly Part[]; coveredMs: number },
): Span[] {
  const packedHours = new Map<string, number>();
  for (const { day, hours } of parts) packedHours.set(day, (packedHours.get(day) ?? 0) | hours);
  return days.flatMap(({ dayMs }) =>
    listRuns(~(packedHours.get(toDay(dayMs)) ?? 0)).flatMap(({ from, until }) => {
      const span = { fromMs: dayMs + from * HOUR_MS, untilMs: Math.min(dayMs + until * HOUR_MS, coveredMs) };
      return span.fromMs < span.untilMs ? [span] : [];
    }),
  );
}

async function* readUnpacked(
  transaction: Db,
  { owner, startMs, endMs, condition }: Wanted,
  spans: readonly Span[],
): AsyncGenerator<Piece> {
  for (const { fromMs, untilMs: spanEndMs } of joinSpans(spans)) {
    const untilMs = Math.min(spanEndMs, endMs);
    // Visits before the window are needed only if they converted in it.
    const ranges = [
      { fromMs: Math.max(fromMs, OLDEST_MS), untilMs: Math.min(untilMs, startMs), convertedSinceMs: startMs },
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

/** Decoding packs takes as long as counting them, so it has turns. A pack may be used until the next one is asked for. */
async function* readParts(
  transaction: Db,
  owner: OrganizationId,
  { parts, turns }: { parts: readonly Part[]; turns: Turns },
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
      const pack = await turns.spend(() => {
        memory.write(base64, "base64");
        return decodePack(Date.parse(part.day), memory.subarray(0, part.bytes));
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
    select day, encode(digest, 'base64') as digest, octet_length(data) as bytes, encode(data, 'base64') as base64
    from unnest(${parts.map(({ day }) => day)}::date[], ${parts.map(({ part }) => part)}::integer[]) as wanted (day, part)
    join ${table("visit_packs")} using (day, part)
    where organization_id = ${owner}`.execute(transaction);
  return rows;
}

function toDay(instantMs: number): string {
  return new Date(toDayMs(instantMs)).toISOString().slice(0, "YYYY-MM-DD".length);
}
