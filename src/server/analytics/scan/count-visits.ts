import type { RawBuilder } from "kysely";
import type { Dimension } from "#contract/dimensions.ts";
import type { OrganizationId } from "#contract/ids.ts";
import type { Db } from "../../db/pool.ts";
import { inSnapshot } from "../../db/transactions.ts";
import { findVisitDays } from "../../funnel/packs/pack-queries.ts";
import { findParts, PacksChanged, readSaved, readUnpacked } from "../../funnel/packs/read-packs.ts";
import { CallerLeft } from "../../http/caller-left.ts";
import { FewAtOnce } from "../../lib/concurrency/few-at-once.ts";
import { Turns } from "../../lib/concurrency/turns.ts";
import { toLocalDay, type ZoneRules } from "../../lib/time/zone-rules.ts";
import type { Filter } from "../filters.ts";
import { toLocalWindow, type WindowDays } from "./local-window.ts";
import { VisitCounts } from "./visit-counts.ts";

/** What is counted from the visits. */
export type Scan = {
  owner: OrganizationId;
  rules: ZoneRules;
  days: WindowDays;
  /** The first day that the plan keeps. */
  oldestDay: string;
  filters: readonly Filter[];
  /** A further condition on funnel_visits. */
  condition?: RawBuilder<unknown> | undefined;
  /** Aborted when whoever asked has left. */
  signal?: AbortSignal | undefined;
};

type Wanted = { lists?: readonly Dimension[]; splitBy?: Dimension };

/** Each takes a connection, and about a tenth of a busy process. One organization gets one, so that it holds up no other. */
const SCANS_AT_ONCE = 3;
const scans = new FewAtOnce(SCANS_AT_ONCE);

/** A scan, and the signals of all who wait for it. */
type Waiting = { counts: Promise<VisitCounts>; signals: (AbortSignal | undefined)[] };

/**
 * Scans that have not started yet. Callers that ask for the same scan share it; it starts later than all of their requests, so it
 * misses nothing.
 */
const waiting = new Map<string, Waiting>();

/**
 * Counts the window's visits one by one, from one snapshot and without holding up other requests. Throws CallerLeft if all who
 * asked have left: then the scan does not start, or stops.
 */
export async function countVisits(db: Db, scan: Scan, wanted: Wanted = {}): Promise<VisitCounts> {
  const { owner, rules, days, oldestDay, filters, condition, signal } = scan;
  const key = JSON.stringify([owner, rules.id, days, oldestDay, filters, wanted]);
  const same = condition ? undefined : waiting.get(key);
  if (same) {
    same.signals.push(signal);
    return await same.counts;
  }
  const signals = [signal];
  const counts = scans.run(owner, () => {
    if (!condition) waiting.delete(key);
    return countNow(db, { scan, wanted, signals });
  });
  if (!condition) waiting.set(key, { counts, signals });
  return await counts;
}

type Work = { scan: Scan; wanted: Wanted; signals: Waiting["signals"] };

async function countNow(db: Db, work: Work): Promise<VisitCounts> {
  try {
    const begun = await inSnapshot(db, (transaction) => begin(transaction, work));
    return await addSaved(db, work, begun);
  } catch (error) {
    if (!(error instanceof PacksChanged)) throw error;
    return await inSnapshot(db, async (transaction) => addSaved(transaction, work, await begin(transaction, work)));
  }
}

type Begun = { counts: VisitCounts; turns: Turns; saved: Awaited<ReturnType<typeof findParts>>["saved"] };

/** Counts what no pack has, and finds the packs. */
async function begin(transaction: Db, { scan, wanted, signals }: Work): Promise<Begun> {
  const { owner, rules, filters, condition } = scan;
  const { lists = [], splitBy } = wanted;
  requireSomeone(signals);
  const { kept_since, ...packed } = await findVisitDays(transaction, owner);
  const window = toLocalWindow(rules, toKeptDays(scan, kept_since));
  const [counts, turns] = [new VisitCounts(window, { filters, lists, splitBy }), new Turns()];
  if (window.startMs >= window.endMs) return { counts, turns, saved: [] };
  const visits = { owner, window, condition };
  const { saved, unpacked } = await findParts(transaction, visits, packed);
  for await (const pack of readUnpacked(transaction, visits, unpacked)) {
    requireSomeone(signals);
    await turns.spend(() => counts.add(pack));
  }
  return { counts, turns, saved };
}

async function addSaved(
  db: Db,
  { scan: { owner }, signals }: Work,
  { counts, turns, saved }: Begun,
): Promise<VisitCounts> {
  for await (const pack of readSaved(db, { owner, turns }, saved)) {
    requireSomeone(signals);
    await turns.spend(() => counts.add(pack));
  }
  return counts;
}

function requireSomeone(signals: Waiting["signals"]): void {
  if (signals.every((signal) => signal?.aborted)) throw new CallerLeft();
}

/** Of days before this instant, retention may have deleted some visits. */
function toKeptDays({ rules, days, oldestDay }: Scan, keptSince: Date): WindowDays {
  // Days compare like their texts.
  const from = [days.from, oldestDay, toLocalDay(rules, keptSince)].sort().at(-1) as string;
  return { ...days, from };
}
