import type { Analytics } from "#contract/analytics.ts";
import type { OrganizationId, WidgetId } from "#contract/ids.ts";
import type { Db } from "../../db/pool.ts";
import { addDays } from "../../lib/time/calendar.ts";
import { toLocalDay } from "../../lib/time/zone-rules.ts";
import { countVisits } from "../count/count-visits.ts";
import { toWidgetFilters } from "./filters.ts";
import { LISTED_KINDS, selectContractLists } from "./lists.ts";
import { toDayReport, toEntry, toShownZone } from "./report.ts";

type Window = {
  days: number;
  timeZone: string | null;
  now: Date;
  keptSince: Date;
  widgetId: WidgetId | null;
  signal?: AbortSignal;
};

/** The contract's result. */
export async function readAnalytics(
  db: Db,
  owner: OrganizationId,
  { days, timeZone, now, keptSince, widgetId, signal }: Window,
): Promise<Analytics> {
  const { zone, rules } = toShownZone(timeZone);
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
  const { channels, sources, campaigns } = await selectContractLists(db, owner, counts.lists);
  return {
    ...toDayReport(counts, { zone, to: today, days }),
    channels: channels.map(toEntry),
    sources: sources.map(toEntry),
    campaigns: campaigns.map(toEntry),
  };
}
