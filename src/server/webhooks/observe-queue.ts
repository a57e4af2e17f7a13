import type { Deps } from "../deps.ts";
import { CAPS, PLANS_WITH_WEBHOOKS } from "./queue-caps.ts";
import { measureQueue, type QueueMeasure } from "./queue-measure.ts";

/** Measures the queue and sets its gauges; null, and gauges without a number, where that is not possible. */
export async function observeQueue(deps: Pick<Deps, "db" | "clock" | "metrics" | "log">): Promise<QueueMeasure | null> {
  const measure = await measureQueue(deps.db, {
    now: deps.clock.now(),
    plans: PLANS_WITH_WEBHOOKS,
    caps: CAPS,
  }).catch((error: unknown) => {
    deps.log.warn("deliveries.measure_failed", { error });
    return null;
  });
  const { metrics } = deps;
  metrics.deliveriesWaiting.set(measure?.waiting ?? Number.NaN);
  metrics.deliveriesInFlight.set(measure?.in_flight ?? Number.NaN);
  metrics.deliveriesOldestDueSeconds.set(measure?.oldest_due_seconds ?? Number.NaN);
  metrics.deliveriesOverdueSeconds.set(measure?.overdue_seconds ?? Number.NaN);
  return measure;
}
