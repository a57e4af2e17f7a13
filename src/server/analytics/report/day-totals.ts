import type { DailyTotal } from "#contract/analytics/analytics.ts";
import { DIMENSIONS } from "#contract/analytics/dimensions.ts";
import type { OrganizationId } from "#contract/ids.ts";
import type { Db } from "../../db/connections/pool.ts";
import { toLocalDay } from "../../lib/time/zone-rules.ts";
import { countVisits } from "../count/count-visits.ts";
import { findFirstDay } from "../count/to-counts.ts";
import { readRows } from "./breakdown/breakdown.ts";
import { LARGEST_FIRST } from "./breakdown/queries.ts";
import { toDayReport, toShownZone } from "./report.ts";

// What is exported about a day, counted in the organization's time zone.

/** The organization's zone; null means UTC. */
type Zoned = { timeZone: string | null };

/** More than a day has. */
const ROWS_MAX = 1_000_000;

export async function readDayTotals(
  db: Db,
  owner: OrganizationId,
  { day, keptSince, ...owned }: Zoned & { day: string; keptSince: Date },
): Promise<DailyTotal[]> {
  const { zone: timeZone, rules } = toShownZone(owned.timeZone);
  const scan = { owner, rules, days: { from: day, to: day }, oldestDay: toLocalDay(rules, keptSince), filters: [] };
  const counts = await countVisits(db, scan, { lists: DIMENSIONS });
  const { views, bookings, conversionRate } = toDayReport(counts, { zone: timeZone, to: day, days: 1 }).totals;
  const rows: DailyTotal[] = [{ day, timeZone, dimension: "total", key: "total", views, bookings, conversionRate }];
  for (const dimension of DIMENSIONS) {
    const totals = counts.lists.get(dimension);
    if (!totals?.size) continue;
    const listed = await readRows(db, owner, { totals, dimension, part: { ...LARGEST_FIRST, limit: ROWS_MAX } });
    for (const { label: _, ...row } of listed.rows) rows.push({ day, timeZone, dimension, ...row });
  }
  return rows;
}

export function toShownDay({ timeZone }: Zoned, instant: Date): string {
  return toLocalDay(toShownZone(timeZone).rules, instant);
}

/** The first day with views or bookings; null if there is none. */
export async function findFirstCountedDay(
  db: Db,
  owner: OrganizationId,
  { now, keptSince, timeZone }: Zoned & { now: Date; keptSince: Date },
): Promise<string | null> {
  const { rules } = toShownZone(timeZone);
  const days = { from: toLocalDay(rules, keptSince), to: toLocalDay(rules, now) };
  return findFirstDay(await countVisits(db, { owner, rules, days, oldestDay: days.from, filters: [] }));
}
