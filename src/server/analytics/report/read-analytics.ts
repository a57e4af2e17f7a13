import type { Analytics } from "#contract/analytics.ts";
import type { Db } from "../../db/pool.ts";
import { countVisits } from "../count/count-visits.ts";
import { type Question, toScan } from "./app-report.ts";
import { LISTED_KINDS, selectContractLists } from "./lists.ts";
import { toDayReport, toEntry } from "./report.ts";

export async function readAnalytics(db: Db, question: Question): Promise<Analytics> {
  const { owner, window, timeZone: zone } = question;
  const counts = await countVisits(db, toScan(question, window), { lists: LISTED_KINDS });
  const { channels, sources, campaigns } = await selectContractLists(db, owner, counts.lists);
  return {
    ...toDayReport(counts, { zone, ...window }),
    channels: channels.map(toEntry),
    sources: sources.map(toEntry),
    campaigns: campaigns.map(toEntry),
  };
}
