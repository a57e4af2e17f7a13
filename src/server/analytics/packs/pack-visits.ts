import { DAY_MS, HOUR_MS, MINUTE_MS } from "#contract/durations.ts";
import type { OrganizationId } from "#contract/ids.ts";
import { OtherWork } from "../../db/connections/other-work.ts";
import type { Db } from "../../db/connections/pool.ts";
import { readAtHome } from "../../db/home.ts";
import { inHome } from "../../db/statements/transactions.ts";
import type { Deps } from "../../deps.ts";
import {
  ALL_HOURS,
  addDays,
  clearOutdated,
  countByHour,
  DAY_HOURS,
  deletePacks,
  deleteParts,
  findDay,
  findProgress,
  findVisitSince,
  finishDay,
  insertPart,
  insertTotals,
  listParts,
  listUnaddedSpans,
  listUnfinishedDays,
  listUnpackedAcrossOrganizations,
  lockPacks,
  lockProgress,
  type PackDay,
  type PackPart,
  readPartData,
  readSpanDays,
  SPAN_DAYS,
  updateProgress,
} from "./pack-queries.ts";
import { PAGE_VISITS, readVisits } from "./read-visits.ts";
import { addEncoded, addPack, createTotals, type WidgetTotals } from "./totals.ts";
import { decodePack, encodePack, NO_VISITS, PACK_VISITS_MAX, toPack, type VisitPack } from "./visit-pack.ts";

// Packs visits: their hours soon after they are over, their days once these are over, and then totals of 30 days. Recording waits
// for moments only. pack-queries.ts says what makes a pack valid.

/** An hour is packed this long after its end: few of its visits change later. */
const REST_MS = 15 * MINUTE_MS;
/** Days that are covered under one lock. */
const COVERED_DAYS = 366;
/** A day that keeps changing while it is packed is left for the next run. */
const TRIES = 3;

/** Background task: packs the visits of every organization that has any to pack. A failure does not hold up the others. */
export async function packOutdated(deps: Pick<Deps, "db" | "clock" | "log">, signal: AbortSignal): Promise<void> {
  const now = deps.clock.now();
  for (const organizationId of await listUnpackedAcrossOrganizations(deps.db, toPackedBefore(now))) {
    if (signal.aborted) return;
    try {
      await packVisits(deps.db, organizationId, { now, signal });
    } catch (error) {
      deps.log.error("stats.pack_failed", { organizationId, error });
    }
  }
}

type Packing = {
  now: Date;
  signal?: AbortSignal | undefined;
  /** Awaited after each day, with the number of visits packed so far. */
  progress?: (visits: number) => unknown;
};

/** Packs everything that has rested, newest first. Returns the number of visits. */
export async function packVisits(db: Db, owner: OrganizationId, { now, signal, progress }: Packing): Promise<number> {
  while (!signal?.aborted && (await coverMore(db, owner, toPackedBefore(now))));
  let visits = 0;
  for (const day of await readAtHome(db, owner, (home) => listUnfinishedDays(home, owner))) {
    if (signal?.aborted) return visits;
    visits += await packDay(db, owner, day);
    await progress?.(visits);
  }
  for (const start of await readAtHome(db, owner, (home) => listUnaddedSpans(home, owner))) {
    if (signal?.aborted) return visits;
    await inHome(db, owner, (transaction) => addUpSpan(transaction, owner, start));
  }
  return visits;
}

/**
 * Packs everything again, for operators who repaired visits by hand. Meanwhile, reports are read from the visits. Gives way to others
 * who use the database.
 */
export async function rebuildPacks(db: Db, owner: OrganizationId, packing: Packing): Promise<number> {
  await inHome(db, owner, async (transaction) => {
    await lockPacks(transaction, owner);
    await lockProgress(transaction, owner);
    await deletePacks(transaction, owner);
  });
  const others = new OtherWork();
  let startedAt = performance.now();
  const progress = async (visits: number) => {
    const stepMs = performance.now() - startedAt;
    others.addOwn(stepMs);
    await packing.progress?.(visits);
    if (await others.isBusy(db)) await others.giveWay(db, { stepMs, signal: packing.signal });
    startedAt = performance.now();
  };
  return await packVisits(db, owner, { ...packing, progress });
}

function toPackedBefore(now: Date): Date {
  return new Date(Math.floor((now.getTime() - REST_MS) / HOUR_MS) * HOUR_MS);
}

/** Covers the next hours that have visits. Returns whether there may be more. */
async function coverMore(db: Db, owner: OrganizationId, before: Date): Promise<boolean> {
  const first = await readAtHome(db, owner, async (home) => {
    const { packed_before } = await findProgress(home, owner);
    return await findVisitSince(home, owner, packed_before);
  });
  if (first === null || first >= before) return false;
  return await inHome(db, owner, async (transaction) => {
    const { packed_before: from } = await lockProgress(transaction, owner);
    const start = (await findVisitSince(transaction, owner, from)) ?? before;
    const until = new Date(Math.min(before.getTime(), toDayStart(start).getTime() + COVERED_DAYS * DAY_MS));
    // Another process may have covered them meanwhile.
    if (start >= until) return false;
    await addDays(transaction, owner, { from: start, until });
    await updateProgress(transaction, owner, { packed_before: until });
    return until < before;
  });
}

function toDayStart(instant: Date): Date {
  return new Date(Math.floor(instant.getTime() / DAY_MS) * DAY_MS);
}

/** Returns the number of visits that were packed. */
async function packDay(db: Db, owner: OrganizationId, day: string): Promise<number> {
  for (let tries = 0; tries < TRIES; tries++) {
    await inHome(db, owner, async (transaction) => {
      await lockPacks(transaction, owner);
      const found = await findDay(transaction, owner, day);
      if (found && found.outdated !== 0) await clearOutdated(transaction, owner, day);
    });
    const visits = await saveDay(db, owner, day);
    if (visits !== null) return visits;
  }
  return 0;
}

/** Null if visits of the day were changed meanwhile: then nothing is saved. */
async function saveDay(db: Db, owner: OrganizationId, day: string): Promise<number | null> {
  class Changed extends Error {}
  try {
    return await inHome(db, owner, async (transaction) => {
      await lockPacks(transaction, owner);
      const found = await findDay(transaction, owner, day);
      if (!found) return 0;
      const visits = found.outdated === 0 ? await packHours(transaction, owner, found) : null;
      if (visits === null) throw new Changed();
      return visits;
    });
  } catch (error) {
    if (error instanceof Changed) return null;
    throw error;
  }
}

async function packHours(
  transaction: Db,
  owner: OrganizationId,
  { day, packed_hours }: PackDay,
): Promise<number | null> {
  const packedHours = await countClosedHours(transaction, owner, day);
  if (packedHours <= packed_hours) return 0;
  const kept = await listKeptParts(transaction, owner, { day, packedHours });
  const totals: WidgetTotals | null = packedHours === DAY_HOURS ? new Map() : null;
  if (totals)
    for (const part of kept)
      addPack(totals, decodePack(Date.parse(day), await readData(transaction, owner, { day, part })));
  const hours = toHours(0, packedHours) & ~kept.reduce((all, part) => all | part.hours, 0);
  let [visits, lastAt] = [0, latest(kept.map((part) => part.last_at))];
  let part = Math.max(0, ...kept.map((each) => each.part));
  for await (const read of readHours(transaction, owner, { day, hours })) {
    await insertPart(transaction, owner, {
      ...{ day, part: ++part, hours: read.hours, visits: read.pack.starts.length, last_at: read.lastAt },
      data: encodePack(read.pack),
    });
    if (totals) addPack(totals, read.pack);
    lastAt = latest([lastAt, read.lastAt]);
    visits += read.pack.starts.length;
  }
  if (totals) await insertTotals(transaction, owner, { days: 1, start: day, totals });
  return (await finishDay(transaction, owner, { day, hours, packedHours, lastAt })) ? visits : null;
}

async function countClosedHours(transaction: Db, owner: OrganizationId, day: string): Promise<number> {
  const { packed_before } = await findProgress(transaction, owner);
  const closedMs = (packed_before?.getTime() ?? Number.NEGATIVE_INFINITY) - Date.parse(day);
  return Math.min(DAY_HOURS, Math.max(0, Math.floor(closedMs / HOUR_MS)));
}

/** The parts that need not be made again. A day that is over has few of them: its hours are packed together if they are small. */
async function listKeptParts(
  transaction: Db,
  owner: OrganizationId,
  { day, packedHours }: { day: string; packedHours: number },
): Promise<PackPart[]> {
  const parts = await listParts(transaction, owner, day);
  const visits = parts.reduce((sum, part) => sum + part.visits, 0);
  if (packedHours < DAY_HOURS || parts.length <= 2 + (2 * visits) / PACK_VISITS_MAX) return parts;
  await deleteParts(transaction, owner, day);
  return [];
}

async function readData(transaction: Db, owner: OrganizationId, { day, part }: { day: string; part: PackPart }) {
  return (await readPartData(transaction, owner, { day, part: part.part })) as Buffer<ArrayBuffer>;
}

type ReadHours = { pack: VisitPack; hours: number; lastAt: Date | null };

/** The visits that started in these hours of a day. Together, the packs have all of the hours, also those without visits. */
async function* readHours(
  transaction: Db,
  owner: OrganizationId,
  { day, hours }: { day: string; hours: number },
): AsyncGenerator<ReadHours> {
  const dayMs = Date.parse(day);
  for (const { from, until } of listGroups(hours, await countByHour(transaction, owner, day))) {
    const ofGroup = toHours(from, until);
    let packs = 0;
    const range = { fromMs: dayMs + from * HOUR_MS, untilMs: dayMs + until * HOUR_MS };
    for await (const read of readVisits(transaction, owner, range)) {
      packs += 1;
      yield { ...read, hours: ofGroup };
    }
    if (packs === 0) yield { pack: toPack(dayMs, NO_VISITS), lastAt: null, hours: ofGroup };
  }
}

/** Neighbouring hours whose visits are read together, or a single hour, however many visits it has. */
function listGroups(hours: number, visits: ReadonlyMap<number, number>): { from: number; until: number }[] {
  return listRuns(hours).flatMap(({ from: first, until: end }) => {
    const groups: { from: number; until: number }[] = [];
    let sum = 0;
    for (let hour = first; hour < end; hour++) {
      const last = groups.at(-1);
      sum += visits.get(hour) ?? 0;
      if (last && sum <= PAGE_VISITS) last.until += 1;
      else {
        groups.push({ from: hour, until: hour + 1 });
        sum = visits.get(hour) ?? 0;
      }
    }
    return groups;
  });
}

/** The bits of these hours, without the last one. */
function toHours(from: number, until: number): number {
  return (ALL_HOURS >> (DAY_HOURS - until)) & (ALL_HOURS << from);
}

/** Neighbouring hours together. */
export function listRuns(hours: number): { from: number; until: number }[] {
  const runs: { from: number; until: number }[] = [];
  for (let hour = 0; hour < DAY_HOURS; hour++) {
    if (((hours >> hour) & 1) === 0) continue;
    const last = runs.at(-1);
    if (last?.until === hour) last.until += 1;
    else runs.push({ from: hour, until: hour + 1 });
  }
  return runs;
}

function latest(instants: readonly (Date | null)[]): Date | null {
  const known = instants.filter((instant) => instant !== null);
  return known.length === 0 ? null : new Date(Math.max(...known.map((instant) => instant.getTime())));
}

async function addUpSpan(transaction: Db, owner: OrganizationId, start: string): Promise<void> {
  await lockPacks(transaction, owner);
  // Its days may have changed meanwhile, or another process has added them up.
  if (!(await listUnaddedSpans(transaction, owner)).includes(start)) return;
  const totals: WidgetTotals = new Map();
  for (const { widget_id, ...bytes } of await readSpanDays(transaction, owner, start)) {
    const sum = totals.get(widget_id) ?? createTotals();
    addEncoded(sum, bytes);
    totals.set(widget_id, sum);
  }
  await insertTotals(transaction, owner, { days: SPAN_DAYS, start, totals });
}
