import { type RawBuilder, sql } from "kysely";
import { DAY_MS } from "#contract/durations.ts";
import type { OrganizationId } from "#contract/ids.ts";
import type { Db } from "../../db/pool.ts";
import type { Turns } from "../../lib/turns.ts";
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

/** The transaction must be repeatable read: saved packs and visits have to be of one snapshot. */
type Reading = {
  transaction: Db;
  owner: OrganizationId;
  window: Window;
  /** Of the same snapshot. */
  packed: Pick<VisitDays, "packed_from" | "packed_before">;
  /** Decoding packs takes as long as counting them. */
  turns: Turns;
  /** A condition on funnel_visits. Packs can't check it, so with it all visits are read. */
  condition: RawBuilder<unknown> | undefined;
};

/**
 * Each visit once that started in the window, or converted since its start; some others may be among them. A pack may be used
 * until the next one is asked for.
 */
export async function* readPacks(reading: Reading): AsyncGenerator<VisitPack> {
  const { window } = reading;
  const { packed_from, packed_before } = reading.packed;
  if (reading.condition || packed_from === null || packed_before === null) {
    yield* readUnpacked(reading, { fromMs: Date.parse(FIRST_DAY), untilMs: window.endMs });
    return;
  }
  const unpacked: Span[] = [{ fromMs: Date.parse(FIRST_DAY), untilMs: Date.parse(packed_from) }];
  // Part 0 says that a day is outdated; its other parts may be in the next list.
  const outdated = new Set<string>();
  let after: Part | undefined = { day: FIRST_DAY, part: -1 };
  while (after) {
    const parts = await listParts(reading, after);
    for (const { day, digest } of parts) {
      if (digest !== null) continue;
      outdated.add(day);
      addDay(unpacked, Date.parse(day));
    }
    yield* readParts(reading, parts.filter(({ day }) => !outdated.has(day)) as SavedPart[]);
    after = parts.length === LISTED_PARTS ? parts.at(-1) : undefined;
  }
  unpacked.push({ fromMs: Date.parse(packed_before), untilMs: window.endMs });
  for (const span of unpacked) yield* readUnpacked(reading, span);
}

type Span = { fromMs: number; untilMs: number };

function addDay(spans: Span[], dayMs: number): void {
  const last = spans.at(-1);
  if (last?.untilMs === dayMs) last.untilMs += DAY_MS;
  else spans.push({ fromMs: dayMs, untilMs: dayMs + DAY_MS });
}

/** Visits before the window are needed only if they converted in it. */
async function* readUnpacked(
  { transaction, owner, window, condition }: Reading,
  span: Span,
): AsyncGenerator<VisitPack> {
  const [fromMs, untilMs] = [span.fromMs, Math.min(span.untilMs, window.endMs)];
  const parts = [
    { fromMs, untilMs: Math.min(untilMs, window.startMs), convertedSinceMs: window.startMs },
    { fromMs: Math.max(fromMs, window.startMs), untilMs },
  ];
  for (const part of parts)
    if (part.fromMs < part.untilMs)
      for await (const { pack } of readVisits(transaction, owner, { ...part, condition })) yield pack;
}

type Part = { day: string; part: number };
type SavedPart = Part & { digest: string; bytes: number };
type ListedPart = SavedPart | (Part & { digest: null; bytes: null });

/** In the order of days and parts. */
async function listParts({ transaction, owner, window }: Reading, after: Part): Promise<ListedPart[]> {
  const [firstDay, lastDay] = [toDay(window.startMs), toDay(window.endMs - 1)];
  const { rows } = await sql<ListedPart>`-- prepared: list_packs
    select day, part, encode(digest, 'base64') as digest, octet_length(data) as bytes from visit_packs
    where organization_id = ${owner} and day <= ${lastDay}::date and (day, part) > (${after.day}::date, ${after.part}::integer)
      and (day >= ${firstDay}::date or last_at >= ${new Date(window.startMs)} or data is null)
    order by day, part limit ${sql.lit(LISTED_PARTS)}`.execute(transaction);
  return rows;
}

/** Those in memory first. If all have room there, the others are kept too. */
async function* readParts(reading: Reading, parts: readonly SavedPart[]): AsyncGenerator<VisitPack> {
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
    for (const { base64, ...part } of await selectParts(reading, missing.slice(i, i + BATCH_PARTS))) {
      if (isKept || memory.length < part.bytes)
        memory = Buffer.from(new ArrayBuffer(isKept ? part.bytes : 2 * part.bytes));
      const pack = await reading.turns.spend(() => {
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
  { transaction, owner }: Reading,
  parts: readonly SavedPart[],
): Promise<(SavedPart & { base64: string })[]> {
  const { rows } = await sql<SavedPart & { base64: string }>`-- prepared: select_packs
    select day, part, encode(digest, 'base64') as digest, octet_length(data) as bytes, encode(data, 'base64') as base64
    from visit_packs
    where organization_id = ${owner} and (day, part) in (
      select wanted.day, wanted.part
      from unnest(${parts.map(({ day }) => day)}::date[], ${parts.map(({ part }) => part)}::integer[]) as wanted (day, part)
    )`.execute(transaction);
  return rows;
}

function toDay(instantMs: number): string {
  return new Date(toDayMs(instantMs)).toISOString().slice(0, "YYYY-MM-DD".length);
}
