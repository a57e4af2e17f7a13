import type { DeliveryId, OrganizationId } from "#contract/ids.ts";
import type { Home } from "../../db/citus/homes.ts";
import type { Db } from "../../db/connections/pool.ts";
import { findHome } from "../../db/home.ts";
import type { Deps } from "../../deps.ts";
import { notifyWorkers } from "./queries.ts";

type WakeDeps = Pick<Deps, "db" | "log">;

/** Something is due at this home. Returns whether the loop takes it at once. */
type Wake = (home: Home, stored: readonly DeliveryId[]) => boolean;

/** The delivery loops of this process, by database. */
const loopsHere = new WeakMap<Db, Set<Wake>>();

/** By database and server: the notification under way, and the one that follows it. */
const notifications = new WeakMap<Db, Map<string, { current: Promise<void>; next: Promise<void> | null }>>();

/** From now on, `wakeWorkers` wakes this loop without a notification. Returns what ends that. */
export function wakeDirectly(db: Db, wake: Wake): () => void {
  const loops = loopsHere.get(db) ?? new Set();
  loopsHere.set(db, loops.add(wake));
  return () => loops.delete(wake);
}

/**
 * Call after the commit; `stored` are deliveries that it has just queued. Other processes are notified only if no loop of this one
 * takes them at once. Never throws: workers also look every second. Calls during a notification share the server's next.
 */
export async function wakeWorkers(
  deps: WakeDeps,
  owner: OrganizationId,
  stored: readonly DeliveryId[] = [],
): Promise<void> {
  try {
    const found = findHome(deps.db, owner);
    const home = found instanceof Promise ? await found : found;
    const isTaken = [...(loopsHere.get(deps.db) ?? [])].some((wake) => wake(home, stored));
    if (!isTaken) await notifyOthers(deps, owner, home);
  } catch (error) {
    deps.log.warn("deliveries.notify_failed", { organizationId: owner, error });
  }
}

async function notifyOthers(deps: WakeDeps, owner: OrganizationId, { address }: Home): Promise<void> {
  const ofServers = notifications.get(deps.db) ?? new Map();
  notifications.set(deps.db, ofServers);
  const begin = () => {
    const current = notify(deps, owner).finally(() => {
      if (ofServers.get(address)?.next === null) ofServers.delete(address);
    });
    ofServers.set(address, { current, next: null });
    return current;
  };
  const known = ofServers.get(address);
  if (known) known.next ??= known.current.then(begin);
  await (known?.next ?? begin());
}

async function notify(deps: WakeDeps, owner: OrganizationId): Promise<void> {
  try {
    await notifyWorkers(deps.db, owner);
  } catch (error) {
    deps.log.warn("deliveries.notify_failed", { organizationId: owner, error });
  }
}
