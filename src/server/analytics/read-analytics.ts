import type { Analytics } from "#contract/analytics.ts";
import type { OrganizationId } from "#contract/ids.ts";
import type { Db } from "../db/pool.ts";
import { addDays } from "../lib/time/calendar.ts";
import { toLocalDay } from "../lib/time/zone-rules.ts";
import { toWidgetFilters } from "./filters.ts";
import { LISTED_KINDS, selectContractLists } from "./lists.ts";
import { type AnalyticsCounts, type CountedWindow, selectAnalytics } from "./queries.ts";
import { toAnalytics } from "./report.ts";
import { countVisits } from "./scan/count-visits.ts";
import { toDayCounts } from "./scan/to-counts.ts";
import { findShownZone } from "./shown-zone.ts";

type Window = Pick<CountedWindow, "days" | "now" | "keptSince" | "widgetId"> & { signal?: AbortSignal };

/** The contract's result: from the counters, or from the visits while the counters are of another time zone. */
export async function readAnalytics(db: Db, owner: OrganizationId, window: Window): Promise<Analytics> {
  const counts = (await selectAnalytics(db, owner, window)) ?? (await countAnalytics(db, owner, window));
  return toAnalytics(counts, window.days);
}

async function countAnalytics(
  db: Db,
  owner: OrganizationId,
  { days, now, keptSince, widgetId, signal }: Window,
): Promise<AnalyticsCounts> {
  const { zone, rules } = await findShownZone(db, owner);
  const today = toLocalDay(rules, now);
  const scan = {
    owner,
    rules,
    days: { from: addDays(today, 1 - days), to: today },
    oldestDay: toLocalDay(rules, keptSince),
    filters: toWidgetFilters(widgetId),
    signal,
  };
  const counts = await countVisits(db, scan, { lists: LISTED_KINDS });
  return { ...toDayCounts(counts, { zone, today }), ...(await selectContractLists(db, owner, counts.lists)) };
}
