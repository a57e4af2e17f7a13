import type { Deps } from "../../deps.ts";
import { notifyWorkers } from "./queries.ts";

/**
 * Wakes the workers of every process. Call it after the transaction that queued a delivery is committed. Never throws:
 * workers also look by themselves every second.
 */
export async function wakeWorkers(deps: Pick<Deps, "db" | "log">): Promise<void> {
  try {
    await notifyWorkers(deps.db);
  } catch (error) {
    deps.log.warn("deliveries.wake_failed", { error });
  }
}
