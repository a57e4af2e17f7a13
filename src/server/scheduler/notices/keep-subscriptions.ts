import { isLoopback } from "#contract/app/addresses.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "#contract/durations.ts";
import type { ConnectionId, OrganizationId } from "#contract/ids.ts";
import { atEveryHome } from "../../db/home.ts";
import { openConnection } from "../open-system.ts";
import type { OpenDeps } from "../scheduler-deps.ts";
import type { SchedulingSystem } from "../scheduling-system.ts";
import {
  claimDueSubscriptionsAcrossOrganizations,
  type DueConnection,
  settleSubscription,
} from "./subscription-queries.ts";

// Subscriptions to notices of changes, one for each connection that follows them. Without one, polling finds the changes.

/** Longer than everything that is asked of a system for one connection. */
const LEASE_MS = 2 * MINUTE_MS;
const BATCH = 20;
const CHECKED_EVERY_MS = HOUR_MS;
const RETRY_MS = 10 * MINUTE_MS;
/** Until a system that refuses is asked again: the plan may be too small, or the credentials may lack a permission. */
const REFUSED_MS = DAY_MS;
const SECRET_BYTES = 32;

/** Background task. */
export async function keepSubscriptions(deps: OpenDeps, signal: AbortSignal): Promise<void> {
  const now = deps.clock.now();
  const leaseUntil = new Date(now.getTime() + LEASE_MS);
  await atEveryHome(deps.db, async ({ writer }) => {
    const claimed = await claimDueSubscriptionsAcrossOrganizations(writer, {
      now,
      longestMs: REFUSED_MS,
      leaseUntil,
      limit: BATCH,
    });
    // Side by side: a system that doesn't answer must not use up the lease of others.
    await Promise.all(
      claimed.map(async (due) => {
        try {
          await keep(deps, due, signal);
        } catch (error) {
          deps.log.error("connection.subscription_failed", { organizationId: due.owner, error });
        }
      }),
    );
  });
}

async function keep(deps: OpenDeps, due: DueConnection, signal: AbortSignal): Promise<void> {
  const { db, clock } = deps;
  const { owner, id, follows, subscriptionId } = due;
  const inMs = (ms: number) => new Date(clock.now().getTime() + ms);
  const subscriptions = (await openConnection(deps, owner, id))?.subscriptions ?? null;
  if (subscriptions === null) return void (await settleSubscription(db, due, { subscription_due_at: null }));
  const url = toNoticeUrl(deps.scheduler.baseUrl, owner, id);

  if (follows && url !== null && subscriptionId !== null) {
    const state = await subscriptions.check({ id: subscriptionId, url }, signal);
    if (state.kind !== "found" || state.value !== "outdated") {
      // What the system could not deliver is found by polling.
      const missed = state.kind === "found" && state.value === "failing" ? { changes_due_at: clock.now() } : {};
      const waitMs = state.kind === "unavailable" ? RETRY_MS : CHECKED_EVERY_MS;
      return void (await settleSubscription(db, due, { ...missed, subscription_due_at: inMs(waitMs) }));
    }
  }
  if (subscriptionId !== null) {
    const removed = await subscriptions.remove(subscriptionId, signal);
    if (removed.kind === "unavailable")
      return void (await settleSubscription(db, due, { subscription_due_at: inMs(RETRY_MS) }));
  }
  if (!follows || url === null) {
    // The address may be another one after the next start.
    const none = { ...NONE, subscription_due_at: follows ? inMs(REFUSED_MS) : null };
    return void (await settleSubscription(db, due, none));
  }
  const secret = deps.random.bytes(SECRET_BYTES).toString("hex");
  const made = await subscriptions.create({ url, secret }, signal);
  const missed = subscriptionId === null ? {} : { changes_due_at: clock.now() };
  if (made.kind !== "found") {
    const waitMs = made.kind === "unavailable" ? RETRY_MS : REFUSED_MS;
    return void (await settleSubscription(db, due, { ...NONE, ...missed, subscription_due_at: inMs(waitMs) }));
  }
  const isKept = await settleSubscription(db, due, {
    subscription_id: made.value,
    subscription_secret: deps.scheduler.sealer.seal(toSealId(id), secret),
    subscription_due_at: inMs(CHECKED_EVERY_MS),
    ...missed,
  });
  // Turned off, changed or deleted in the meantime.
  if (!isKept) await subscriptions.remove(made.value, signal);
}

const NONE = { subscription_id: null, subscription_secret: null } as const;

/** Of a connection that is deleted, or gets another account. A system that can't be asked sends notices that are refused. */
export async function endSubscription(system: SchedulingSystem | null, subscriptionId: string | null): Promise<void> {
  if (subscriptionId !== null) await system?.subscriptions?.remove(subscriptionId);
}

/** Null if no system can reach it. */
function toNoticeUrl(baseUrl: string, owner: OrganizationId, id: ConnectionId): string | null {
  return isLoopback(new URL(baseUrl).hostname) ? null : `${baseUrl}/change-notices/${owner}/${id}`;
}

export function toSealId(id: ConnectionId): string {
  return `${id} subscription`;
}
