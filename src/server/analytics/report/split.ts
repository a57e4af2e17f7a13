import type { FunnelSplit } from "#contract/app/analytics.ts";
import type { Dimension } from "#contract/dimensions.ts";
import type { Db } from "../../db/pool.ts";
import { countVisits } from "../count/count-visits.ts";
import { isKeyed, toKeyId, toStoredKey } from "../record/key-id.ts";
import { type Question, toScan } from "./app-report.ts";
import { chooseBest } from "./breakdown/best-keys.ts";
import { readRows } from "./breakdown/breakdown.ts";
import { toFunnel } from "./report.ts";

const ORDER = { search: null, sort: "views", isAscending: false, after: null, offset: 0 } as const;

export async function readSplit(
  db: Db,
  question: Question,
  { dimension, groupsMax }: { dimension: Dimension; groupsMax: number },
): Promise<FunnelSplit["groups"]> {
  const { owner, window } = question;
  const counts = await countVisits(db, toScan(question, window), { splitBy: dimension });
  const visits = new Map<number | string, { views: number; bookings: number }>();
  for (const [value, reached] of counts.reachedBy)
    visits.set(value, { views: reached.reduce((sum, count) => sum + count, 0), bookings: 0 });
  const largest = [...chooseBest(visits, groupsMax)]
    .sort(([a, { views }], [b, { views: others }]) => others - views || (a < b ? -1 : 1))
    .slice(0, groupsMax);
  const totals = new Map(largest);
  const part = { ...ORDER, limit: groupsMax };
  const { rows } = await readRows(db, owner, { totals, dimension, part });
  return rows.map(({ key, label }) => {
    const value = isKeyed(dimension) ? toKeyId(dimension, toStoredKey(dimension, key)) : key;
    return { key, label, funnel: toFunnel(counts.reachedBy.get(value) ?? []) };
  });
}
