import type { Deps } from "../../deps.ts";
import { notifyWorkers } from "./queries.ts";

/**
 * Tells every worker, in whichever process, that something is due. Call it when the transaction that queued it has been
 * committed. Never throws: a worker that is not told looks by itself within a second.
 */
export async function wakeWorkers(deps: Pick<Deps, "db" | "log">): Promise<void> {
  try {
    await notifyWorkers(deps.db);
  } catch (error) {
    deps.log.warn("deliveries.wake_failed", { error });
  }
}
