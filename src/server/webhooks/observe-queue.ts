import type { Deps } from "../deps.ts";
import { within } from "../lib/pause.ts";
import { CAPS, PLANS_WITH_WEBHOOKS } from "./queue-caps.ts";
import { measureQueue, type QueueMeasure } from "./queue-measure.ts";

/** Deliveries that could be sent and have waited this long mean that workers do not work. */
export const OVERDUE_SECONDS_MAX = 120;

/** Monitoring must not hang where the database does. */
const MEASURE_LIMIT_MS = 2_000;

/** Measures the queue and sets its gauges; null, and gauges without a number, where that is not possible. */
export async function observeQueue(deps: Pick<Deps, "db" | "clock" | "metrics" | "log">): Promise<QueueMeasure | null> {
  const asked = { now: deps.clock.now(), plans: PLANS_WITH_WEBHOOKS, caps: CAPS };
  const measure = await within(MEASURE_LIMIT_MS, measureQueue(deps.db, asked)).catch((error: unknown) => {
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
