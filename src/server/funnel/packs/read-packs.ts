import { type RawBuilder, sql } from "kysely";
import { DAY_MS } from "#contract/durations.ts";
import type { OrganizationId } from "#contract/ids.ts";
import type { Db } from "../../db/pool.ts";
import type { Turns } from "../../lib/concurrency/turns.ts";
import { PackCache } from "./pack-cache.ts";
import { decodePack } from "./pack-format.ts";
import { FIRST_DAY, type VisitDays } from "./pack-queries.ts";
import { readVisits, toDayMs } from "./read-visits.ts";
import type { VisitPack } from "./visit-pack.ts";

// Everything that analytics counts, as packs: saved ones where they are valid, and the visits themselves for all other days.

/** Parts that are found by one statement. */
const LISTED_PARTS = 2_000;
/** Parts whose bytes are read by one statement: at most a few megabytes. */
const BATCH_PARTS = 32;

const cache = new PackCache(12 * 1024 ** 2);

type Window = { startMs: number; endMs: number };

type Wanted = {
  owner: OrganizationId;
  window: Window;
  /** A condition on funnel_visits. Packs can't check it, so with it all visits are read. */
  condition: RawBuilder<unknown> | undefined;
};

/** The days, as parts of saved packs and as spans whose visits must be read. */
type Found = { saved: readonly SavedPart[]; unpacked: readonly Span[] };

/**
 * Where to find the visits that started in the window, or converted since its start: each of them once, and some others. The
 * transaction must be repeatable read; `packed_from`, `packed_before` and the visits of unpacked days must be read in it too.
 */
export async function findParts(
  transaction: Db,
  wanted: Wanted,
  { packed_from, packed_before }: Pick<VisitDays, "packed_from" | "packed_before">,
): Promise<Found> {
  const endMs = wanted.window.endMs;
  if (wanted.condition || packed_from === null || packed_before === null)
    return { saved: [], unpacked: [{ fromMs: Date.parse(FIRST_DAY), untilMs: endMs }] };
  const parts: ListedPart[] = [];
  for (let after: Part | undefined = { day: FIRST_DAY, part: -1 }; after; ) {
    const listed = await listParts(transaction, wanted, after);
    parts.push(...listed);
    after = listed.length === LISTED_PARTS ? listed.at(-1) : undefined;
  }
  const unpacked: Span[] = [{ fromMs: Date.parse(FIRST_DAY), untilMs: Date.parse(packed_from) }];
  // Part 0 says that a day is outdated.
  const outdated = new Set(parts.filter(({ digest }) => digest === null).map(({ day }) => day));
  for (const day of outdated) addDay(unpacked, Date.parse(day));
  unpacked.push({ fromMs: Date.parse(packed_before), untilMs: endMs });
  return { saved: parts.filter(({ day }) => !outdated.has(day)) as SavedPart[], unpacked };
}

type Span = { fromMs: number; untilMs: number };

function addDay(spans: Span[], dayMs: number): void {
  const last = spans.at(-1);
  if (last?.untilMs === dayMs) last.untilMs += DAY_MS;
  else spans.push({ fromMs: dayMs, untilMs: dayMs + DAY_MS });
}

/** A pack may be used until the next one is asked for. */
export async function* readUnpacked(
  transaction: Db,
  { owner, window, condition }: Wanted,
  unpacked: readonly Span[],
): AsyncGenerator<VisitPack> {
  for (const span of unpacked) {
    const [fromMs, untilMs] = [span.fromMs, Math.min(span.untilMs, window.endMs)];
    // Visits before the window are needed only if they converted in it.
    const ranges = [
      { fromMs, untilMs: Math.min(untilMs, window.startMs), convertedSinceMs: window.startMs },
      { fromMs: Math.max(fromMs, window.startMs), untilMs },
    ];
    for (const range of ranges)
      if (range.fromMs < range.untilMs)
        for await (const { pack } of readVisits(transaction, owner, { ...range, condition })) yield pack;
  }
}

type Part = { day: string; part: number };
type SavedPart = Part & { digest: string; bytes: number };
type ListedPart = SavedPart | (Part & { digest: null; bytes: null });

/** In the order of days and parts. */
async function listParts(transaction: Db, { owner, window }: Wanted, after: Part): Promise<ListedPart[]> {
  const [firstDay, lastDay] = [toDay(window.startMs), toDay(window.endMs - 1)];
  const { rows } = await sql<ListedPart>`-- prepared: list_packs
    select day, part, encode(digest, 'base64') as digest, octet_length(data) as bytes from visit_packs
    where organization_id = ${owner} and day <= ${lastDay}::date and (day, part) > (${after.day}::date, ${after.part}::integer)
      and (day >= ${firstDay}::date or last_at >= ${new Date(window.startMs)} or data is null)
    order by day, part limit ${sql.lit(LISTED_PARTS)}`.execute(transaction);
  return rows;
}

/** A saved part is no longer the one that was found: its day's visits have changed since. */
export class PacksChanged extends Error {}

/**
 * A part with its digest has the same bytes in every snapshot, so this needs no transaction: a long report would otherwise keep
 * PostgreSQL from removing old versions of the counters, which slows down recording. Throws PacksChanged. Decoding packs takes as
 * long as counting them, so it has turns. A pack may be used until the next one is asked for.
 */
export async function* readSaved(
  db: Db,
  { owner, turns }: { owner: OrganizationId; turns: Turns },
  parts: readonly SavedPart[],
): AsyncGenerator<VisitPack> {
  // Those in memory first. If all have room there, the others are kept too.
  const missing: SavedPart[] = [];
  for (const part of parts) {
    const pack = cache.find(toCacheKey(part));
    if (pack) yield pack;
    else missing.push(part);
  }
  const bytes = parts.reduce((sum, part) => sum + part.bytes, 0);
  const isKept = cache.hasRoomFor({ packs: parts.length, bytes });
  // What is not kept is decoded into the same memory, which saves most of the garbage collection.
  let memory = Buffer.alloc(0);
  for (let i = 0; i < missing.length; i += BATCH_PARTS)
    for (const { base64, ...part } of await selectParts(db, owner, missing.slice(i, i + BATCH_PARTS))) {
      if (isKept || memory.length < part.bytes)
        memory = Buffer.from(new ArrayBuffer(isKept ? part.bytes : 2 * part.bytes));
      const pack = await turns.spend(() => {
        memory.write(base64, "base64");
        return decodePack(Date.parse(part.day), memory.subarray(0, part.bytes));
      });
      if (isKept) cache.keep(toCacheKey(part), { pack, bytes: part.bytes });
      yield pack;
    }
}

function toCacheKey({ day, digest }: SavedPart): string {
  return `${day} ${digest}`;
}

/** Bytes come as base64: it is shorter than PostgreSQL's hexadecimal digits, and Node reads it four times as fast. */
async function selectParts(
  db: Db,
  owner: OrganizationId,
  parts: readonly SavedPart[],
): Promise<(SavedPart & { base64: string })[]> {
  const { rows } = await sql<SavedPart & { base64: string }>`-- prepared: select_packs
    select wanted.day, wanted.part, wanted.digest, octet_length(pack.data) as bytes, encode(pack.data, 'base64') as base64
    from unnest(${parts.map(({ day }) => day)}::date[], ${parts.map(({ part }) => part)}::integer[],
      ${parts.map(({ digest }) => digest)}::text[]) as wanted (day, part, digest)
    join visit_packs pack on pack.day = wanted.day and pack.part = wanted.part
      and pack.digest = decode(wanted.digest, 'base64')
    where pack.organization_id = ${owner}`.execute(db);
  if (rows.length < parts.length) throw new PacksChanged("a day was packed again");
  return rows;
}

function toDay(instantMs: number): string {
  return new Date(toDayMs(instantMs)).toISOString().slice(0, "YYYY-MM-DD".length);
}
