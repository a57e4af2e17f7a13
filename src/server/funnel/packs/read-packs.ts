import { type RawBuilder, sql } from "kysely";
import { DAY_MS } from "#contract/durations.ts";
import type { OrganizationId } from "#contract/ids.ts";
import type { Db } from "../../db/pool.ts";
import { decodePack } from "./pack-format.ts";
import { FIRST_DAY, findPackedDays } from "./pack-queries.ts";
import { readVisits, toDayMs } from "./read-visits.ts";
import type { VisitPack } from "./visit-pack.ts";

// Everything that analytics counts, as packs: saved ones where they are valid, and the visits themselves for all other days.

/** Parts of packs that are in memory at a time: at most a few megabytes. */
const BATCH_PARTS = 32;

type Window = { startMs: number; endMs: number };

/** The transaction must be repeatable read: saved packs and visits have to be of one snapshot. */
type Reading = {
  transaction: Db;
  owner: OrganizationId;
  window: Window;
  /** A condition on funnel_visits. Packs can't check it, so with it all visits are read. */
  condition: RawBuilder<unknown> | undefined;
};

/**
 * Each visit once that started in the window, or converted since its start; some others may be among them. A pack may be used
 * until the next one is asked for: saved ones are all decoded into the same memory, which saves most of the garbage collection.
 */
export async function* readPacks(reading: Reading): AsyncGenerator<VisitPack> {
  const { transaction, owner, window } = reading;
  const { packed_from, packed_before } = await findPackedDays(transaction, owner);
  if (reading.condition || packed_from === null || packed_before === null) {
    yield* readUnpacked(reading, { fromMs: Date.parse(FIRST_DAY), untilMs: window.endMs });
    return;
  }
  const unpacked: Span[] = [{ fromMs: Date.parse(FIRST_DAY), untilMs: Date.parse(packed_from) }];
  let memory = Buffer.alloc(0);
  for await (const { day, base64 } of selectParts(reading)) {
    if (base64 === null) addDay(unpacked, Date.parse(day));
    else {
      if (base64.length > memory.length) memory = Buffer.alloc(2 * base64.length);
      yield decodePack(Date.parse(day), memory.subarray(0, memory.write(base64, "base64")));
    }
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

type PartRow = { day: string; part: number; base64: string | null };

/**
 * In the order of days and parts. Of an outdated day, only part 0, which has no data. Bytes come as base64: it is shorter than
 * PostgreSQL's hexadecimal digits, and Node reads it four times as fast.
 */
async function* selectParts({ transaction, owner, window }: Reading): AsyncGenerator<PartRow> {
  const [firstDay, lastDay] = [toDay(window.startMs), toDay(window.endMs - 1)];
  let after: { day: string; part: number } | undefined = { day: FIRST_DAY, part: -1 };
  let outdatedDay: string | null = null;
  while (after) {
    const { rows }: { rows: PartRow[] } = await sql<PartRow>`-- prepared: select_packs
      select day, part, encode(data, 'base64') as base64 from visit_packs
      where organization_id = ${owner} and day <= ${lastDay}::date and (day, part) > (${after.day}::date, ${after.part}::integer)
        and (day >= ${firstDay}::date or last_at >= ${new Date(window.startMs)} or data is null)
      order by day, part limit ${sql.lit(BATCH_PARTS)}`.execute(transaction);
    for (const row of rows) {
      if (row.base64 === null) outdatedDay = row.day;
      if (row.base64 === null || row.day !== outdatedDay) yield row;
    }
    after = rows.length === BATCH_PARTS ? rows.at(-1) : undefined;
  }
}

function toDay(instantMs: number): string {
  return new Date(toDayMs(instantMs)).toISOString().slice(0, "YYYY-MM-DD".length);
}
