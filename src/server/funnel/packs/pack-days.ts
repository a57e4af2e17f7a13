import { DAY_MS, HOUR_MS } from "#contract/durations.ts";
import type { OrganizationId } from "#contract/ids.ts";
import { keepInPlace, requireSettled } from "../../db/engine.ts";
import type { Db } from "../../db/pool.ts";
import { inOrganization } from "../../db/transactions.ts";
import type { Deps } from "../../deps.ts";
import { addDays } from "../../lib/time/calendar.ts";
import { lockDayZone, updateDayZone } from "../recount/day-zone.ts";
import { encodePack } from "./pack-format.ts";
import {
  deletePacks,
  FIRST_DAY,
  findChanges,
  findVisitDays,
  findVisitedDayBefore,
  listOutdatedDays,
  listUnpacked,
  listVisitedDays,
  outdatePacks,
  saveFirstPart,
  saveLaterPart,
} from "./pack-queries.ts";
import { readVisits } from "./read-visits.ts";
import { NO_VISITS, toPack } from "./visit-pack.ts";

// Packs the visits of past days. Days first get an outdated pack, under a short lock: from then on, whatever changes one of their
// visits counts up the day's changes. Then each day is read without any lock that recording waits for, and saved if nothing has
// changed meanwhile. A day that has is packed at the next run.

/** A day is packed this long after its end: most of its visits are over then. */
const REST_MS = HOUR_MS;
/** Days that are looked at under one lock. */
const LOCKED_DAYS = 366;

/** Background task: packs the days of every organization that has any to pack. A failure does not hold up the others. */
export async function packOutdated(deps: Pick<Deps, "db" | "clock" | "log">, signal: AbortSignal): Promise<void> {
  const now = deps.clock.now();
  for (const organizationId of await listUnpacked(deps.db, toPackedBefore(now))) {
    if (signal.aborted) return;
    try {
      await packDays(deps.db, organizationId, { now, signal });
    } catch (error) {
      deps.log.error("stats.pack_failed", { organizationId, error });
    }
  }
}

/** Packs all days that are over and not packed, newest first. */
export async function packDays(
  db: Db,
  owner: OrganizationId,
  { now, signal }: { now: Date; signal?: AbortSignal },
): Promise<void> {
  const before = toPackedBefore(now);
  while (!(await coversDays(db, owner, before))) {
    if (signal?.aborted) return;
    await coverMoreDays(db, owner, before);
  }
  for (const day of await listOutdatedDays(db, owner)) {
    if (signal?.aborted) return;
    await packDay(db, owner, day);
  }
}

/** Deletes all packs so that they are rebuilt, for operators who repaired visits by hand. A change of zone needs no new packs. */
export async function repackAll(db: Db, owner: OrganizationId): Promise<void> {
  await inOrganization(db, owner, async (transaction) => {
    await lockDayZone(transaction, owner);
    await deletePacks(transaction, owner);
  });
}

/** Whether all days before this one are covered. */
async function coversDays(db: Db, owner: OrganizationId, before: string): Promise<boolean> {
  const { packed_from, packed_before } = await findVisitDays(db, owner);
  return packed_from === FIRST_DAY && packed_before !== null && packed_before >= before;
}

function toPackedBefore(now: Date): string {
  return addDays(new Date(now.getTime() - REST_MS).toISOString(), 0);
}

/** Recording waits for this, about once a day. */
async function coverMoreDays(db: Db, owner: OrganizationId, before: string): Promise<void> {
  await inOrganization(db, owner, async (transaction) => {
    const zone = await lockDayZone(transaction, owner);
    const covered = { from: zone.packed_from ?? before, before: zone.packed_before ?? before };
    const added = await findNextDays(transaction, owner, { covered, before });
    await updateDayZone(transaction, owner, {
      packed_from: added.from < covered.from ? added.from : covered.from,
      packed_before: added.before > covered.before ? added.before : covered.before,
    });
    await outdatePacks(transaction, owner, await listVisitedDays(transaction, owner, added));
  });
}

type Days = { from: string; before: string };

/** Next to the covered days: first the newer ones, then the older ones. */
async function findNextDays(
  transaction: Db,
  owner: OrganizationId,
  { covered, before }: { covered: Days; before: string },
): Promise<Days> {
  if (covered.before < before) {
    const most = addDays(covered.before, LOCKED_DAYS);
    return { from: covered.before, before: most < before ? most : before };
  }
  const day = await findVisitedDayBefore(transaction, owner, covered.from);
  // No visit started on the days between.
  if (day === null) return { from: FIRST_DAY, before: FIRST_DAY };
  const from = addDays(day, 1 - LOCKED_DAYS);
  return { from: from < FIRST_DAY ? FIRST_DAY : from, before: addDays(day, 1) };
}

async function packDay(db: Db, owner: OrganizationId, day: string): Promise<void> {
  const packing = await db.startTransaction().execute();
  try {
    const isSaved = await saveDay(packing, owner, day);
    await (isSaved ? packing.commit() : packing.rollback()).execute();
  } catch (error) {
    if (!packing.isCommitted && !packing.isRolledBack)
      await packing
        .rollback()
        .execute()
        .catch(() => {});
    throw error;
  }
}

/** False if the day was changed meanwhile, or is packed: then nothing may be committed, or old parts would join a newer part 0. */
async function saveDay(transaction: Db, owner: OrganizationId, day: string): Promise<boolean> {
  await keepInPlace(transaction, owner);
  await requireSettled(transaction, owner);
  const changes = await findChanges(transaction, owner, day);
  if (changes === null) return false;
  const dayMs = Date.parse(day);
  let first = { pack: toPack(dayMs, NO_VISITS), lastAt: null as Date | null };
  let parts = 0;
  for await (const read of readVisits(transaction, owner, { fromMs: dayMs, untilMs: dayMs + DAY_MS })) {
    if (parts === 0) first = read;
    else if ((await findChanges(transaction, owner, day)) !== changes) return false;
    else
      await saveLaterPart(transaction, owner, { day, part: parts, lastAt: read.lastAt, data: encodePack(read.pack) });
    parts += 1;
  }
  return await saveFirstPart(transaction, owner, {
    ...{ day, changes, parts, lastAt: first.lastAt },
    data: encodePack(first.pack),
  });
}
