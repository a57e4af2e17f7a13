import type { OrganizationId } from "#contract/ids.ts";
import type { Db } from "../../db/pool.ts";
import type { Deps } from "../../deps.ts";
import { assert } from "../../lib/assert.ts";
import { isOutdated, knowsTimeZone, listOutdated, lockDayZone, updateDayZone } from "./day-zone.ts";
import {
  type DerivedChunk,
  deleteOldSets,
  deriveVisits,
  findTimeZone,
  tryLockRebuild,
  waitForRebuildLock,
} from "./rebuild-queries.ts";
import { sealSpans } from "./seal-spans.ts";

// Counting anew, from the events: into a set of counters of its own, visit by visit in the order of their keys, while
// recording goes on into both sets (record.ts); then one update switches over. What a rebuild leaves behind when it is cut
// off is a set that nobody reads; the next one begins a new set and deletes it.

/** Recording for the organization waits while a chunk is counted, a tenth of a second or so. */
const CHUNK_VISITS = 1_000;
const DELETE_ROWS = 5_000;

const BEFORE_ALL_VISITS = { widgetId: "", visitId: "00000000-0000-0000-0000-000000000000" };
const NOTHING_SEALED = "1970-01-01";

type RebuildOutcome =
  | { kind: "rebuilt"; visits: number; zone: string }
  | { kind: "busy" }
  | { kind: "stopped" }
  | { kind: "unknown_zone"; zone: string };

type RebuildOptions = { signal?: AbortSignal; progress?: (visits: number) => void; chunkVisits?: number };

/** Recounts everything of an organization in its present time zone. `busy`: another process is at it. */
export async function rebuildStats(
  deps: Pick<Deps, "db" | "clock">,
  owner: OrganizationId,
  options: RebuildOptions = {},
): Promise<RebuildOutcome> {
  return await deps.db.connection().execute(async (connection): Promise<RebuildOutcome> => {
    const lock = await tryLockRebuild(connection, owner);
    if (!lock) return { kind: "busy" };
    try {
      return await rebuild(deps, owner, options);
    } finally {
      await lock.release();
    }
  });
}

/** Waits for a rebuild under way; if the days are then still counted in another time zone than the organization's, rebuilds. */
export async function rebuildIfOutdated(
  deps: Pick<Deps, "db" | "clock">,
  owner: OrganizationId,
  options: RebuildOptions = {},
): Promise<RebuildOutcome | { kind: "up_to_date" }> {
  return await deps.db.connection().execute(async (connection) => {
    const lock = await waitForRebuildLock(connection, owner);
    try {
      return (await isOutdated(deps.db, owner)) ? await rebuild(deps, owner, options) : { kind: "up_to_date" };
    } finally {
      await lock.release();
    }
  });
}

/**
 * Background task: organizations whose time zone was changed, and recounts that were cut off. One that fails is logged and
 * tried again at the next run; the others do not wait for it.
 */
export async function rebuildOutdated(deps: Pick<Deps, "db" | "clock" | "log">, signal: AbortSignal): Promise<void> {
  for (const organizationId of await listOutdated(deps.db)) {
    if (signal.aborted) return;
    try {
      const outcome = await rebuildStats(deps, organizationId, { signal });
      if (outcome.kind === "rebuilt") deps.log.info("stats.rebuilt", { organizationId, count: outcome.visits });
      if (outcome.kind === "unknown_zone") deps.log.warn("stats.zone_unknown", { organizationId });
    } catch (error) {
      deps.log.error("stats.rebuild_failed", { organizationId, error });
    }
  }
}

/** For the holder of the lock. */
async function rebuild(
  deps: Pick<Deps, "db" | "clock">,
  owner: OrganizationId,
  { signal, progress, chunkVisits = CHUNK_VISITS }: RebuildOptions,
): Promise<RebuildOutcome> {
  const zone = await findTimeZone(deps.db, owner);
  // Asked first: a set in a zone that the server cannot count in would make every recording fail.
  if (!(await knowsTimeZone(deps.db, zone))) return { kind: "unknown_zone", zone };
  await beginSet(deps.db, owner, zone);
  let visits = 0;
  for (;;) {
    if (signal?.aborted) return { kind: "stopped" };
    const chunk = await deps.db.transaction().execute((transaction) => countChunk(transaction, owner, chunkVisits));
    if (!chunk.last) break;
    visits += chunk.visits;
    progress?.(visits);
  }
  await sealSpans(deps.db, owner, { set: "building", now: deps.clock.now() });
  await deps.db.transaction().execute((transaction) => switchOver(transaction, owner, chunkVisits));
  while ((await deleteOldSets(deps.db, owner, DELETE_ROWS)) === DELETE_ROWS);
  return { kind: "rebuilt", visits, zone };
}

async function beginSet(db: Db, owner: OrganizationId, zone: string): Promise<void> {
  await db.transaction().execute(async (transaction) => {
    const current = await lockDayZone(transaction, owner);
    await updateDayZone(transaction, owner, {
      building_zone: zone,
      building_version: Math.max(current.version, current.building_version ?? 0) + 1,
      building_sealed_before: NOTHING_SEALED,
      building_widget_id: BEFORE_ALL_VISITS.widgetId,
      building_visit_id: BEFORE_ALL_VISITS.visitId,
    });
  });
}

/** Counts the next visits into the set and moves its mark behind them. */
async function countChunk(transaction: Db, owner: OrganizationId, limit: number): Promise<DerivedChunk> {
  const set = await lockBuildingSet(transaction, owner);
  const chunk = await deriveVisits(transaction, owner, { ...set, limit });
  if (chunk.last)
    await updateDayZone(transaction, owner, {
      building_widget_id: chunk.last.widgetId,
      building_visit_id: chunk.last.visitId,
    });
  return chunk;
}

/**
 * Under the lock, what was recorded since the last chunk with a key behind the mark is still uncounted: count it, then let
 * the readers have the new set.
 */
async function switchOver(transaction: Db, owner: OrganizationId, chunkVisits: number): Promise<void> {
  while ((await countChunk(transaction, owner, chunkVisits)).last);
  const set = await lockBuildingSet(transaction, owner);
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
