import { FUNNEL_STEPS, type FunnelStep } from "#contract/analytics/steps.ts";
import { DAY_MS } from "#contract/durations.ts";
import type { WidgetId } from "#contract/ids.ts";
import type { Db } from "../src/server/db/connections/pool.ts";
import { systemClock } from "../src/server/lib/time/clock.ts";
import { ownerOf } from "../test/support/builders.ts";
import { readAnalytics } from "../test/support/funnel/analytics.ts";
import type { Load } from "./load.ts";

/** Around now, because processes may have the wrong time. */
const WINDOW_DAYS = 60;

type Counts = {
  /** Visits that reached each step, in the order of FUNNEL_STEPS. */
  reached: number[];
  bookings: number;
};

/** What reports count for these widgets. */
export async function readCounts(db: Db, widgets: readonly WidgetId[]): Promise<Counts> {
  const counts: Counts = { reached: FUNNEL_STEPS.map(() => 0), bookings: 0 };
  const now = new Date(systemClock.now().getTime() + (WINDOW_DAYS / 2) * DAY_MS);
  for (const widgetId of widgets) {
    const { funnel, totals } = await readAnalytics(db, ownerOf(widgetId), { days: WINDOW_DAYS, now, widgetId });
    counts.reached = FUNNEL_STEPS.map((step, i) => (counts.reached[i] ?? 0) + funnel[step]);
    counts.bookings += totals.bookings;
  }
  return counts;
}

/** The same, of visits that were sent with these steps. */
export function countReached(visits: Load["visits"]): number[] {
  const furthest = visits.map(({ steps }) => FUNNEL_STEPS.indexOf(steps.at(-1) as FunnelStep));
  return FUNNEL_STEPS.map((_, i) => furthest.filter((step) => step >= i).length);
}
