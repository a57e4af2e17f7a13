import type { RawBuilder } from "kysely";
import type { Dimension } from "#contract/analytics/dimensions.ts";
import { SECOND_MS } from "#contract/durations.ts";
import type { OrganizationId } from "#contract/ids.ts";
import type { Db } from "../../db/connections/pool.ts";
import { readAtHome } from "../../db/home.ts";
import { inHomeSnapshot } from "../../db/statements/transactions.ts";
import { CallerLeft } from "../../http/errors/api-error.ts";
import { Semaphore } from "../../lib/concurrency/semaphore.ts";
import { SlicedWork } from "../../lib/concurrency/sliced-work.ts";
import { addDays } from "../../lib/time/calendar.ts";
import { toLocalDay, type ZoneRules } from "../../lib/time/zone-rules.ts";
import { findProgress } from "../packs/pack-queries.ts";
import { isComplete, type Packed, readPacked, readPieces, readUnpacked } from "../packs/read-packs.ts";
import { ALL_WIDGETS, QUARTER_MS } from "../packs/totals.ts";
import { type Filter, findOneWidget } from "../report/filters.ts";
import { type LocalWindow, toLocalWindow, type WindowDays } from "./local-window.ts";
import { VisitCounts } from "./visit-counts.ts";

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
const scans = new Semaphore(SCANS_AT_ONCE);

/** A scan, and the signals of all who wait for it. */
type Waiting = { counts: Promise<VisitCounts>; signals: (AbortSignal | undefined)[] };

/** Scans that have not started. Callers that ask for the same scan share it: it starts after all of them asked. */
const waiting = new Map<string, Waiting>();

/**
 * Counts the window's visits, from one snapshot and without holding up other requests. Throws CallerLeft if all who asked have
 * left: then the count does not start, or stops.
 */
export async function countVisits(db: Db, scan: Scan, wanted: Wanted = {}): Promise<VisitCounts> {
  const { owner, rules, days, oldestDay, filters, condition, signal } = scan;
  if (findTotals(scan, wanted) !== null) return await countNow(db, { scan, wanted, signals: [signal] });
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

/** Whose totals can answer, because every visit of theirs counts alike; null if visits must be looked at. */
function findTotals({ filters, condition }: Scan, { splitBy }: Wanted): string | null {
  if (condition || splitBy) return null;
  return filters.length === 0 ? ALL_WIDGETS : findOneWidget(filters);
}

type Work = { scan: Scan; wanted: Wanted; signals: Waiting["signals"] };

async function countNow(db: Db, work: Work): Promise<VisitCounts> {
  const { owner } = work.scan;
  requireSomeone(work.signals);
  // One statement reads everything that most reports need.
  const read = mayBeSmall(work) && (await readAtHome(db, owner, (home) => readWindow(home, work)));
  if (read && (read.packed === null || isComplete(read.packed))) return await addUp(db, work, read);
  return await inHomeSnapshot(db, owner, async (transaction) => {
    requireSomeone(work.signals);
    return await addUp(transaction, work, await readWindow(transaction, work));
  });
}

/** Without totals, many packs are read. */
function mayBeSmall({ scan, wanted }: Work): boolean {
  return findTotals(scan, wanted) !== null;
}

/** `packed` is null if visits must be read one by one, or none. */
type Read = { window: LocalWindow; packed: Packed | null };

/** The window is shorter if retention may have deleted visits of its first days. */
async function readWindow(db: Db, work: Work, from = work.scan.days.from): Promise<Read> {
  const { scan, wanted } = work;
  const { owner, rules, days, oldestDay } = scan;
  // Days compare like their texts.
  const known = [from, oldestDay].sort().at(-1) as string;
  const window = toLocalWindow(rules, { ...days, from: known });
  const { startMs, endMs } = window;
  if (startMs >= endMs) return { window, packed: null };
  const totalsOf = hasWholeQuarters(window) ? findTotals(scan, wanted) : null;
  const hasLists = (wanted.lists ?? []).length > 0;
  const packed = scan.condition ? null : await readPacked(db, { owner, startMs, endMs, totalsOf, hasLists });
  const { kept_since } = packed?.progress ?? (await findProgress(db, owner));
  const firstKept = addDays(toLocalDay(rules, new Date(kept_since.getTime() - 1)), 1);
  return firstKept > known ? await readWindow(db, work, firstKept) : { window, packed };
}

async function addUp(db: Db, { scan, wanted, signals }: Work, { window, packed }: Read): Promise<VisitCounts> {
  const { owner, filters, condition } = scan;
  const { lists = [], splitBy } = wanted;
  const [counts, sliced] = [new VisitCounts(window, { filters, lists, splitBy }), new SlicedWork()];
  if (window.startMs >= window.endMs) return counts;
  const pieces = packed ? readPieces(db, packed, sliced) : readUnpacked(db, { owner, ...window }, { condition });
  for await (const piece of pieces) {
    requireSomeone(signals);
    await sliced.spend(() => (piece.kind === "pack" ? counts.add(piece.pack) : counts.addTotals(piece.totals)));
  }
  return counts;
}

/** Not so in some places before 1972, and where clocks changed at midnight or a minute later. */
function hasWholeQuarters({ startMs, offsets }: LocalWindow): boolean {
  const isWhole = (ms: number) => ms % QUARTER_MS === 0;
  return offsets.every(({ fromMs, seconds }, i) => {
    const isNext = i === 0 ? fromMs === startMs : fromMs === offsets[i - 1]?.untilMs && isWhole(fromMs);
    return isNext && isWhole(seconds * SECOND_MS);
  });
}

function requireSomeone(signals: Waiting["signals"]): void {
  if (signals.every((signal) => signal?.aborted)) throw new CallerLeft();
}
