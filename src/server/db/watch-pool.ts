import type { Metrics } from "../lib/log/metrics.ts";
import type { Pool } from "./pool.ts";

/** Reports in /metrics how much of the pool is in use, and whether anything waits for it. */
export function watchPool(metrics: Metrics, pool: Pool): void {
  metrics.watch(() => {
    metrics.databaseConnections.set({ state: "in_use" }, pool.totalCount - pool.idleCount);
    metrics.databaseConnections.set({ state: "idle" }, pool.idleCount);
    metrics.databaseConnectionsMax.set(pool.options.max);
    metrics.databaseSilent.set({ engine: pool.engine }, pool.isSilent ? 1 : 0);
    metrics.databaseWaiting.set(pool.waitingCount);
  });
}
