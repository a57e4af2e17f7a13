import type { Db } from "../../db/pool.ts";
import type { Deps } from "../../deps.ts";
import { notifyWorkers } from "./queries.ts";

/** By database: the notification under way, and the one that follows it. */
const notifications = new WeakMap<Db, { current: Promise<void>; next: Promise<void> | null }>();

/** Call after the commit. Never throws: workers also look every second. Calls during a notification share the next. */
export async function wakeWorkers(deps: Pick<Deps, "db" | "log">): Promise<void> {
  const known = notifications.get(deps.db);
  if (!known) {
    const current = notify(deps);
    notifications.set(deps.db, { current, next: null });
    return await current;
  }
  known.next ??= known.current.then(() => {
    const current = notify(deps);
    notifications.set(deps.db, { current, next: null });
    return current;
  });
  await known.next;
}

async function notify(deps: Pick<Deps, "db" | "log">): Promise<void> {
  try {
    await notifyWorkers(deps.db);
  } catch (error) {
    deps.log.warn("deliveries.notify_failed", { error });
  } finally {
    if (notifications.get(deps.db)?.next === null) notifications.delete(deps.db);
  }
}
