import type { RawBuilder } from "kysely";
import { DAY_MS, HOUR_MS } from "#contract/durations.ts";
import type { OrganizationId } from "#contract/ids.ts";
import type { Db } from "../../db/connections/pool.ts";
import { assert } from "../../lib/assert.ts";
import type { SlicedWork } from "../../lib/concurrency/sliced-work.ts";
import { PackCache } from "./pack-cache.ts";
import type { Progress } from "./pack-queries.ts";
import { listRuns } from "./pack-visits.ts";
import { type Part, packedStatement, selectParts, type Wanted } from "./read-queries.ts";
import { readVisits, toDayMs, toPacks } from "./read-visits.ts";
import { TotalsReader } from "./totals.ts";
import { decodePack, type VisitPack } from "./visit-pack.ts";

// Everything that analytics counts, in the fewest bytes: totals of days and spans that lie within the window, packs of the other
// days, and the visits themselves where nothing valid is packed. One statement reads what most reports need. The rest is read
// by others, and then all of them need one snapshot.

/** Parts whose bytes are read by one statement: at most a few megabytes. */
const BATCH_PARTS = 32;

const cache = new PackCache(12 * 1024 ** 2);

type Piece = { kind: "totals"; totals: TotalsReader } | { kind: "pack"; pack: VisitPack };

export type Packed = {
  wanted: Wanted;
  progress: Progress;
  totals: TotalsReader;
  /** Valid parts that the window needs, by day; and their bytes, if those are few. */
  parts: readonly Part[];
  partsData: Buffer | null;
  /** Covered hours that have no valid pack. */
  unpacked: readonly TimeRange[];
  /** The visits that are not covered, or the first of them. */
  newest: ReturnType<typeof toPacks>;
};

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
  yield* readUnpacked(transaction, wanted, { ranges: [...unpacked, ...rest] });
}

type TimeRange = { fromMs: number; untilMs: number };

/** The covered hours of these days that have no valid pack. */
function listUnpacked(
  days: readonly number[],
  { parts, coveredMs }: { parts: readonly Part[]; coveredMs: number },
): TimeRange[] {
  const packedHours = new Map<number, number>();
  for (const { day, hours } of parts) packedHours.set(day, (packedHours.get(day) ?? 0) | hours);
  return days.flatMap((day) =>
    listRuns(~(packedHours.get(day) ?? 0)).flatMap(({ from, until }) => {
      const dayMs = day * DAY_MS;
      const range = { fromMs: dayMs + from * HOUR_MS, untilMs: Math.min(dayMs + until * HOUR_MS, coveredMs) };
      return range.fromMs < range.untilMs ? [range] : [];
    }),
  );
}

/** What is not covered, or without packs. Packs can't check a condition on funnel_visits. */
export async function* readUnpacked(
  transaction: Db,
  { owner, startMs, endMs }: Pick<Wanted, "owner" | "startMs" | "endMs">,
  { ranges = ALWAYS, condition }: { ranges?: readonly TimeRange[]; condition?: RawBuilder<unknown> | undefined },
): AsyncGenerator<Piece> {
  for (const { fromMs, untilMs: rangeEndMs } of joinRanges(ranges)) {
    const untilMs = Math.min(rangeEndMs, endMs);
    // Visits before the window are needed only if they converted in it.
    const parts = [
      { fromMs, untilMs: Math.min(untilMs, startMs), convertedSinceMs: startMs },
      { fromMs: Math.max(fromMs, startMs), untilMs },
    ];
    for (const part of parts)
      if (part.fromMs < part.untilMs)
        for await (const { pack } of readVisits(transaction, owner, { ...part, condition }))
          yield { kind: "pack", pack };
  }
}

/** No visit is older. */
const OLDEST_MS = Date.parse("0001-01-01");
const ALWAYS: readonly TimeRange[] = [{ fromMs: OLDEST_MS, untilMs: Number.POSITIVE_INFINITY }];

/** Neighbours as one. */
function joinRanges(ranges: readonly TimeRange[]): TimeRange[] {
  const joined: TimeRange[] = [];
  for (const range of ranges.toSorted((a, b) => a.fromMs - b.fromMs)) {
    const last = joined.at(-1);
    if (last?.untilMs === range.fromMs) last.untilMs = range.untilMs;
    else joined.push({ ...range });
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

function toDay(instantMs: number): string {
  return new Date(toDayMs(instantMs)).toISOString().slice(0, "YYYY-MM-DD".length);
}
