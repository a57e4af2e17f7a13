import type { OrganizationId } from "#contract/ids.ts";
import { findServer } from "../../db/home.ts";
import type { Db } from "../../db/pool.ts";
import type { Deps } from "../../deps.ts";
import { notifyWorkers } from "./queries.ts";

type WakeDeps = Pick<Deps, "db" | "log">;

/** By database and server: the notification under way, and the one that follows it. */
const notifications = new WeakMap<Db, Map<string, { current: Promise<void>; next: Promise<void> | null }>>();

/** Call after the commit. Never throws: workers also look every second. Calls during a notification share the server's next. */
export async function wakeWorkers(deps: WakeDeps, owner: OrganizationId): Promise<void> {
  try {
    const server = await findServer(deps.db, owner);
    const ofServers = notifications.get(deps.db) ?? new Map();
    notifications.set(deps.db, ofServers);
    const begin = () => {
      const current = notify(deps, owner).finally(() => {
        if (ofServers.get(server)?.next === null) ofServers.delete(server);
      });
      ofServers.set(server, { current, next: null });
      return current;
    };
    const known = ofServers.get(server);
    if (known) known.next ??= known.current.then(begin);
    await (known?.next ?? begin());
  } catch (error) {
    deps.log.warn("deliveries.notify_failed", { error });
  }
}

async function notify(deps: WakeDeps, owner: OrganizationId): Promise<void> {
  try {
    await notifyWorkers(deps.db, owner);
  } catch (error) {
    deps.log.warn("deliveries.notify_failed", { error });
  }
}
