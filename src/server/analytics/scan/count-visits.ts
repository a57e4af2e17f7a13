import type { RawBuilder } from "kysely";
import type { Dimension } from "#contract/dimensions.ts";
import type { OrganizationId } from "#contract/ids.ts";
import type { Db } from "../../db/pool.ts";
import { readPacks } from "../../funnel/packs/read-packs.ts";
import { FewAtOnce } from "../../lib/few-at-once.ts";
import { Turns } from "../../lib/turns.ts";
import { toLocalDay, type ZoneRules } from "../../lib/zone-rules.ts";
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
};

type Wanted = { lists?: readonly Dimension[]; splitBy?: Dimension };

/**
 * Each takes a connection, and about a fifth of a busy process: reading packs takes as long as counting them. One organization
 * gets one, so that it holds up no other.
 */
const SCANS_AT_ONCE = 3;
const scans = new FewAtOnce(SCANS_AT_ONCE);

/** Scans that have not started yet. Whoever asks for the same gets the same counts: nothing they have seen can be missing. */
const waiting = new Map<string, Promise<VisitCounts>>();

/** Counts the window's visits one by one, from one snapshot and without holding up other requests. */
export async function countVisits(db: Db, scan: Scan, wanted: Wanted = {}): Promise<VisitCounts> {
  const { owner, rules, days, oldestDay, filters, condition } = scan;
  if (condition) return await scans.run(owner, () => countNow(db, scan, wanted));
  const key = JSON.stringify([owner, rules.id, days, oldestDay, filters, wanted]);
  const same = waiting.get(key);
  if (same) return await same;
  const counts = scans.run(owner, () => {
    waiting.delete(key);
    return countNow(db, scan, wanted);
  });
  waiting.set(key, counts);
  return await counts;
}

async function countNow(db: Db, scan: Scan, { lists = [], splitBy }: Wanted): Promise<VisitCounts> {
  const { owner, rules, filters, condition } = scan;
  return await db
    .transaction()
    .setIsolationLevel("repeatable read")
    .setAccessMode("read only")
    .execute(async (transaction) => {
      const window = toLocalWindow(rules, await toKeptDays(transaction, scan));
      const counts = new VisitCounts(window, { filters, lists, splitBy });
      const turns = new Turns();
      if (window.startMs < window.endMs)
        for await (const pack of readPacks({ transaction, owner, window, condition }))
          await turns.spend(() => counts.add(pack));
      return counts;
    });
}

/** Of days before kept_since, retention may have deleted some visits. */
async function toKeptDays(transaction: Db, { owner, rules, days, oldestDay }: Scan): Promise<WindowDays> {
  const { kept_since } = await transaction
    .selectFrom("day_zones")
    .select("kept_since")
    .where("organization_id", "=", owner)
    .executeTakeFirstOrThrow();
  // Days compare like their texts.
  const from = [days.from, oldestDay, toLocalDay(rules, kept_since)].sort().at(-1) as string;
  return { ...days, from };
}
