import type { Deps } from "../../deps.ts";
import { measureInTime } from "../../lib/log/measure.ts";
import { measureQueue, type QueueMeasure } from "./measure.ts";

/** If deliveries that could be sent have waited this long, no worker is working. */
export const OVERDUE_SECONDS_MAX = 120;

/** Measures the queue and sets its gauges; null and NaN if the database does not answer. */
export async function observeQueue(deps: Pick<Deps, "db" | "clock" | "metrics" | "log">): Promise<QueueMeasure | null> {
  const measuring = measureQueue(deps.db, deps.clock.now());
  const measure = await measureInTime(deps, { failed: "deliveries.measure_failed", measuring });
  const { metrics } = deps;
  metrics.deliveriesWaiting.set(measure?.waiting ?? Number.NaN);
  metrics.deliveriesInFlight.set(measure?.in_flight ?? Number.NaN);
  metrics.deliveriesOldestDueSeconds.set(measure?.oldest_due_seconds ?? Number.NaN);
  metrics.deliveriesOverdueSeconds.set(measure?.overdue_seconds ?? Number.NaN);
  return measure;
}
