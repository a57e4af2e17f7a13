import type { OrganizationId } from "#contract/ids.ts";
import type { Db } from "../db/pool.ts";
import type { Deps } from "../deps.ts";
import { assert } from "../lib/assert.ts";
import { listOutdatedZones, lockDayZone, updateDayZone } from "./day-zone.ts";
import {
  deleteOtherCounters,
  deleteVisitsAfter,
  deriveVisits,
  findTimeZone,
  tryLockRebuild,
} from "./rebuild-queries.ts";
import { sealMonths } from "./seal-months.ts";

// Counting anew, from the events: into a set of counters of its own, visit by visit in the order of their keys, while
// recording goes on into both sets (record.ts); then one update switches over. What a rebuild leaves behind when it is cut
// off is a set that nobody reads; the next one begins a new set and deletes it.

const CHUNK_VISITS = 1_000;
const DELETE_ROWS = 5_000;

const BEFORE_ALL_VISITS = { widgetId: "", visitId: "00000000-0000-0000-0000-000000000000" };
const NOTHING_SEALED = "1970-01-01";

export type RebuildOutcome = { kind: "rebuilt"; visits: number; zone: string } | { kind: "busy" } | { kind: "stopped" };

/** Recounts everything of an organization in its present time zone. `busy`: another process is at it. */
export async function rebuildStats(
  deps: Pick<Deps, "db" | "clock">,
  owner: OrganizationId,
  options: { signal?: AbortSignal; progress?: (visits: number) => void } = {},
): Promise<RebuildOutcome> {
  return await deps.db.connection().execute(async (connection): Promise<RebuildOutcome> => {
    const lock = await tryLockRebuild(connection, owner);
    if (!lock) return { kind: "busy" };
    try {
      const { zone, version } = await beginSet(deps.db, owner);
      let visits = 0;
      for (;;) {
        if (options.signal?.aborted) return { kind: "stopped" };
        const counted = await deps.db.transaction().execute((transaction) => countChunk(transaction, owner));
        if (counted === 0) break;
        visits += counted;
        options.progress?.(visits);
      }
      await sealMonths(deps.db, owner, { set: "building", now: deps.clock.now() });
      await deps.db.transaction().execute((transaction) => switchOver(transaction, owner));
      await deleteOtherCounters(deps.db, owner, { keep: version, batchRows: DELETE_ROWS });
      return { kind: "rebuilt", visits, zone };
    } finally {
      await lock.release();
    }
  });
}

/** Background task: organizations whose time zone was changed, and recounts that were cut off. */
export async function rebuildOutdated(deps: Pick<Deps, "db" | "clock" | "log">, signal: AbortSignal): Promise<void> {
  for (const owner of await listOutdatedZones(deps.db)) {
    if (signal.aborted) return;
    const outcome = await rebuildStats(deps, owner, { signal });
    if (outcome.kind === "rebuilt") deps.log.info("stats.rebuilt", { organizationId: owner, count: outcome.visits });
  }
}

async function beginSet(db: Db, owner: OrganizationId): Promise<{ zone: string; version: number }> {
  return await db.transaction().execute(async (transaction) => {
    const current = await lockDayZone(transaction, owner);
    const zone = await findTimeZone(transaction, owner);
    const version = Math.max(current.version, current.building_version ?? 0) + 1;
    await updateDayZone(transaction, owner, {
      building_zone: zone,
      building_version: version,
      building_sealed_before: NOTHING_SEALED,
      building_widget_id: BEFORE_ALL_VISITS.widgetId,
      building_visit_id: BEFORE_ALL_VISITS.visitId,
    });
    return { zone, version };
  });
}

/** Counts the next visits into the set and moves its mark behind them. Returns 0 when there are none left. */
async function countChunk(transaction: Db, owner: OrganizationId): Promise<number> {
  const set = await lockBuildingSet(transaction, owner);
  const chunk = await deriveVisits(transaction, owner, { ...set, limit: CHUNK_VISITS });
  if (chunk.visits > 0)
    await updateDayZone(transaction, owner, {
      building_widget_id: chunk.last_widget_id,
      building_visit_id: chunk.last_visit_id,
    });
  return chunk.visits;
}

/**
 * Under the lock, what was recorded since the last chunk with a key behind the mark is still uncounted: count it, then let
 * the readers have the new set.
 */
async function switchOver(transaction: Db, owner: OrganizationId): Promise<void> {
  while ((await countChunk(transaction, owner)) > 0);
  const set = await lockBuildingSet(transaction, owner);
  await deleteVisitsAfter(transaction, owner, set.after);
  await updateDayZone(transaction, owner, {
    zone: set.zone,
    version: set.version,
    sealed_before: set.sealedBefore,
    building_zone: null,
    building_version: null,
    building_sealed_before: null,
    building_widget_id: null,
    building_visit_id: null,
  });
}

async function lockBuildingSet(transaction: Db, owner: OrganizationId) {
  const row = await lockDayZone(transaction, owner);
  const { building_version: version, building_zone: zone, building_sealed_before: sealedBefore } = row;
  const { building_widget_id: widgetId, building_visit_id: visitId } = row;
  assert(
    version !== null && zone !== null && sealedBefore !== null && widgetId !== null && visitId !== null,
    "only the holder of the rebuild lock ends a set that is being built",
  );
  return { version, zone, sealedBefore, after: { widgetId, visitId } };
}
