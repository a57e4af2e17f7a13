import type { OrganizationId } from "#contract/ids.ts";
import { engineOf, keepInPlace, requireSettled } from "../../db/engine.ts";
import { OtherWork } from "../../db/other-work.ts";
import type { Db } from "../../db/pool.ts";
import { inOrganization } from "../../db/transactions.ts";
import type { Deps } from "../../deps.ts";
import { pause } from "../../lib/concurrency/pause.ts";
import { addDays, countDaysBetween, parseTimeZone } from "../../lib/time/calendar.ts";
import { RULES_RELEASE, readZoneRules, type ZoneRules } from "../../lib/time/zone-rules.ts";
import { saveZoneOffsets } from "../../organizations/zone-offsets.ts";
import { listOutdated, lockDayZone, updateDayZone } from "./day-zone.ts";
import { LONGEST_SPAN, SHORTEST_WIDGET_SPAN } from "./key-spans.ts";
import {
  countStep,
  type DayRange,
  deleteChanges,
  findTimeZone,
  findVisitRange,
  hasMoreVisitsThan,
  mergeSets,
  takeSnapshot,
  tryLockRebuild,
  type VisitRange,
} from "./rebuild-queries.ts";
import { addUpSpansOf, findOpenSpan } from "./seal-spans.ts";

// Recounts an organization from its visits without delaying recording, in parts of a few weeks; a part with many visits has several
// steps. From the start on, recording also adds its changes to a second set of counters. For each step, a short lock does two
// things at the same moment: it deletes the changes of the step's days, and takes a snapshot, which contains them. The step is
// counted from the snapshot into a third set.
// A last short lock adds the changes to the counted set, and one update switches over. The hourly retention deletes the sets that
// are no longer used, including those of an interrupted recount: nobody should wait for that.
//
// No snapshot lasts longer than a step: as long as one exists, PostgreSQL keeps every version of the counters that recording
// changes a hundred times a second, and reads through all of them.

/** Days per part: whole spans, and few enough visits to group in memory. */
const PART_DAYS = LONGEST_SPAN;
/**
 * A part with more visits is counted in steps. Counting slows recording down on a small machine, and half a second of that is
 * better than four.
 */
const UNDIVIDED_VISITS_MAX = 5_000;
const STEP_DAYS = SHORTEST_WIDGET_SPAN;
/** On Citus the counters of a part pass through this process (add-in-steps.ts), which also adds up parts of a span. */
const CITUS_PART_DAYS = 30;
const BUSY_PAUSE_MS = 500;

type RebuildOutcome =
  | { kind: "rebuilt"; visits: number; zone: string }
  | { kind: "busy" }
  | { kind: "stopped" }
  | { kind: "unknown_zone"; zone: string };

type RebuildOptions = {
  signal?: AbortSignal;
  /** Called after each step; the next one waits for it. */
  progress?: (visits: number) => unknown;
  /** Recounts that follow each other share it. */
  others?: OtherWork;
  /** Days since then are shown again, even if they had been deleted. */
  shownSince?: Date;
};

/** Recounts an organization in its current time zone. `busy`: another process is doing it. */
export async function rebuildStats(
  deps: Pick<Deps, "db" | "clock">,
  owner: OrganizationId,
  options: RebuildOptions = {},
): Promise<RebuildOutcome> {
  return await deps.db.connection().execute(async (connection): Promise<RebuildOutcome> => {
    const lock = await tryLockRebuild(connection, owner);
    if (!lock) return { kind: "busy" };
    try {
      const outcome = await rebuild(deps, connection, { owner, options });
      await lock.release();
      return outcome;
    } catch (error) {
      // A broken connection has lost the lock, and can't release it either.
      await lock.release().catch(() => {});
      throw error;
    }
  });
}

/**
 * Background task: recounts organizations whose time zone was changed, and those with an interrupted recount. A failure is
 * logged and retried at the next run; the others do not wait for it. If the zone is changed again meanwhile, the recount stops,
 * and the next run counts in the newest zone.
 */
export async function rebuildOutdated(deps: Pick<Deps, "db" | "clock" | "log">, signal: AbortSignal): Promise<void> {
  const others = new OtherWork();
  for (const organizationId of await listOutdated(deps.db)) {
    if (signal.aborted) return;
    try {
      const zone = await findTimeZone(deps.db, organizationId);
      const changed = new AbortController();
      const outcome = await rebuildStats(deps, organizationId, {
        others,
        signal: AbortSignal.any([signal, changed.signal]),
        progress: async () => {
          if ((await findTimeZone(deps.db, organizationId)) !== zone) changed.abort();
        },
      });
      if (outcome.kind === "rebuilt") deps.log.info("stats.rebuilt", { organizationId, count: outcome.visits });
      if (outcome.kind === "unknown_zone") deps.log.warn("stats.zone_unknown", { organizationId });
    } catch (error) {
      deps.log.error("stats.rebuild_failed", { organizationId, error });
    }
  }
}

/** `connection` holds the rebuild lock. */
async function rebuild(
  deps: Pick<Deps, "db" | "clock">,
  connection: Db,
  { owner, options }: { owner: OrganizationId; options: RebuildOptions },
): Promise<RebuildOutcome> {
  const zone = await findTimeZone(deps.db, owner);
  if (parseTimeZone(zone) === null) return { kind: "unknown_zone", zone };
  const rules = readZoneRules(zone);
  await saveZoneOffsets(deps.db, rules);
  const sealedBefore = await findOpenSpan(deps.db, rules.id, deps.clock.now());
  const counted = await countAll(deps, connection, { owner, rules, sealedBefore, options });
  if (counted === "stopped") return { kind: "stopped" };
  const { visits, changesVersion, version } = counted;
  await inOrganization(deps.db, owner, async (transaction) => {
    const { kept_since } = await lockDayZone(transaction, owner);
    const { shownSince = kept_since } = options;
    await mergeSets(transaction, owner, { from: changesVersion, into: version, sealedBefore });
    await updateDayZone(transaction, owner, {
      zone,
      rules: rules.id,
      rules_release: RULES_RELEASE,
      version,
      spans_sealed_before: sealedBefore,
      building_version: null,
      building_rules: null,
      kept_since: shownSince < kept_since ? shownSince : kept_since,
    });
  });
  return { kind: "rebuilt", visits, zone };
}

type Recount = { owner: OrganizationId; rules: ZoneRules; sealedBefore: string; options: RebuildOptions };
type Counted = { visits: number; version: number; changesVersion: number };

/** Counts the visits part by part, while recording writes its changes to a separate set. */
async function countAll(
  { db }: Pick<Deps, "db">,
  connection: Db,
  { owner, rules, sealedBefore, options }: Recount,
): Promise<Counted | "stopped"> {
  const isCitus = engineOf(db) === "citus";
  const { changesVersion, range } = await inOrganization(db, owner, async (transaction) => {
    const { version, building_version } = await lockDayZone(transaction, owner);
    const next = Math.max(version, (building_version ?? 0) + 1) + 1;
    await updateDayZone(transaction, owner, { building_version: next, building_rules: rules.id });
    return { changesVersion: next, range: await findVisitRange(transaction, owner) };
  });
  const version = changesVersion + 1;
  const parts = range ? toParts(range, isCitus ? CITUS_PART_DAYS : PART_DAYS) : [];
  const partsInSteps: Step[][] = [];
  for (const part of parts) partsInSteps.push(isCitus ? [part] : await divide(db, owner, part));
  // On Citus two parts at once would take too much of this process's memory.
  const counters = parts.length > 1 && !isCitus ? [connection, db] : [connection];
  const others = options.others ?? new OtherWork();
  let visits = 0;
  await countParts(counters, partsInSteps, {
    db,
    others,
    signal: options.signal,
    count: async (counter, { completed, ...step }) => {
      const startedAt = performance.now();
      const counted = await counter
        .transaction()
        .setIsolationLevel("repeatable read")
        .execute(async (counting) => {
          await startStep(db, counting, { owner, changesVersion, step });
          const visitsStarted = await countStep(counting, owner, { version, rules: rules.id, sealedBefore, ...step });
          if (completed && completed.lastDay < sealedBefore) {
            const days = { version, from: completed.firstDay, to: addDays(completed.lastDay, 1) };
            await addUpSpansOf(counting, owner, { length: LONGEST_SPAN, ...days });
          }
          return visitsStarted;
        });
      // Two may count at once.
      visits += counted;
      others.addOwn(performance.now() - startedAt);
      await options.progress?.(visits);
    },
  });
  return options.signal?.aborted ? "stopped" : { visits, version, changesVersion };
}

/** Recording is blocked meanwhile, so the snapshot ends exactly where the recorded changes of the step's days begin. */
async function startStep(
  db: Db,
  counting: Db,
  { owner, changesVersion, step }: { owner: OrganizationId; changesVersion: number; step: DayRange },
): Promise<void> {
  await inOrganization(db, owner, async (transaction) => {
    await lockDayZone(transaction, owner);
    await deleteChanges(transaction, owner, { version: changesVersion, ...step });
    await keepInPlace(counting, owner);
    await requireSettled(counting, owner);
    await takeSnapshot(counting, owner);
  });
}

/** `completed` is the part whose last step this is; its span of 60 days can then be added up. */
type Step = DayRange & { completed?: DayRange };

type PartWork = {
  db: Db;
  others: OtherWork;
  signal: AbortSignal | undefined;
  count: (counter: Db, step: Step) => Promise<void>;
};

/**
 * Takes parts from the list until it is empty or the signal aborts. Counts one step of each at a time and puts the rest back, so
 * that the steps of a part are counted one after another. While others are at work in the database, counters pause after each step,
 * and the second one counts nothing as long as the first one does.
 */
async function countParts(
  [first, second]: readonly Db[],
  parts: Step[][],
  { db, others, signal, count }: PartWork,
): Promise<void> {
  let hasFailed = false;
  let isFirstAtWork = true;
  const mayContinue = () => parts.length > 0 && !signal?.aborted && !hasFailed;
  const work = async (counter: Db | undefined, { isHelper }: { isHelper: boolean }) => {
    if (!counter) return;
    try {
      while (mayContinue()) {
        if (isHelper && isFirstAtWork && (await others.isBusy(db)) !== false) {
          await pause(BUSY_PAUSE_MS, signal);
          continue;
        }
        const startedAt = performance.now();
        const [step, ...rest] = parts.shift() ?? [];
        if (step) await count(counter, step);
        if (rest.length > 0) parts.unshift(rest);
        if (mayContinue()) await others.giveWay(db, { stepMs: performance.now() - startedAt, signal });
      }
    } catch (error) {
      hasFailed = true;
      throw error;
    } finally {
      // It may end while the helper counts a step of the last part; the helper must then count the others, whoever is at work.
      if (!isHelper) isFirstAtWork = false;
    }
  };
  const ended = await Promise.allSettled([work(first, { isHelper: false }), work(second, { isHelper: true })]);
  for (const result of ended) if (result.status === "rejected") throw result.reason;
}

/** Local days are at most one day off those of UTC. */
function toParts({ first, last }: VisitRange, partDays: number): DayRange[] {
  const start = addDays(first.toISOString(), -1);
  const end = addDays(last.toISOString(), 1);
  const daysIntoSpan = countDaysBetween("1970-01-01", start) % partDays;
  const parts: DayRange[] = [];
  for (let day = addDays(start, -daysIntoSpan); day <= end; day = addDays(day, partDays))
    parts.push({ firstDay: day, lastDay: addDays(day, partDays - 1) });
  return parts;
}

async function divide(db: Db, owner: OrganizationId, part: DayRange): Promise<Step[]> {
  if (!(await hasMoreVisitsThan(db, owner, { limit: UNDIVIDED_VISITS_MAX, ...part }))) return [part];
  return Array.from({ length: PART_DAYS / STEP_DAYS }, (_, n): Step => {
    const firstDay = addDays(part.firstDay, n * STEP_DAYS);
    const lastDay = addDays(firstDay, STEP_DAYS - 1);
    return lastDay === part.lastDay ? { firstDay, lastDay, completed: part } : { firstDay, lastDay };
  });
}
