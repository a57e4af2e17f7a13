import type { Deps } from "../../deps.ts";
import { measureInTime } from "../../lib/measure.ts";
import { CAPS, PLANS_WITH_WEBHOOKS } from "./caps.ts";
import { measureQueue, type QueueMeasure } from "./measure.ts";

/** Deliveries that could be sent and have waited this long mean that workers do not work. */
export const OVERDUE_SECONDS_MAX = 120;

/** Measures the queue and sets its gauges; null, and gauges without a number, where that is not possible. */
export async function observeQueue(deps: Pick<Deps, "db" | "clock" | "metrics" | "log">): Promise<QueueMeasure | null> {
  const asked = { now: deps.clock.now(), plans: PLANS_WITH_WEBHOOKS, caps: CAPS };
  const measuring = measureQueue(deps.db, asked);
  const measure = await measureInTime(deps, { failed: "deliveries.measure_failed", measuring });
  const { metrics } = deps;
  metrics.deliveriesWaiting.set(measure?.waiting ?? Number.NaN);
  metrics.deliveriesInFlight.set(measure?.in_flight ?? Number.NaN);
  metrics.deliveriesOldestDueSeconds.set(measure?.oldest_due_seconds ?? Number.NaN);
  metrics.deliveriesOverdueSeconds.set(measure?.overdue_seconds ?? Number.NaN);
  return measure;
}
