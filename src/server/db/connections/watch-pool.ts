import type { Metrics } from "../../lib/log/metrics.ts";
import type { Pool } from "./pool.ts";

export function watchPool(metrics: Metrics, pool: Pool): void {
  metrics.watch(() => {
    metrics.databaseConnections.set({ state: "in_use" }, pool.totalCount - pool.idleCount);
    metrics.databaseConnections.set({ state: "idle" }, pool.idleCount);
    metrics.databaseConnectionsMax.set(pool.options.max);
    metrics.databaseSilent.set({ engine: pool.engine }, pool.silence ? 1 : 0);
    metrics.databaseWaiting.set(pool.waitingCount);
  });
}
