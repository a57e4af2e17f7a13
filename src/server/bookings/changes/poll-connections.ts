import { DAY_MS, MINUTE_MS } from "#contract/durations.ts";
import type { ConnectionKind } from "#contract/scheduling.ts";
import { atEveryHome } from "../../db/home.ts";
import type { Db } from "../../db/pool.ts";
import { type OpenDeps, openConnection } from "../../scheduler/scheduler.ts";
import { findReferences, markDue } from "./check-queries.ts";
import { claimFollowed, type FollowedConnection, listKnown, noteSeen } from "./poll-queries.ts";

// Asks scheduling systems which appointments may have changed. Those are then read one by one (follow-appointments.ts).

/** One request each, as long as nothing changes. */
const EVERY_MS: Readonly<Record<ConnectionKind, number>> = {
  calcom: 5 * MINUTE_MS,
  calendly: 15 * MINUTE_MS,
  "microsoft-bookings": 15 * MINUTE_MS,
};
/** Calendly sends a notice again for a day, and what it gives up is noticed (notices/keep-subscriptions.ts). Cal.com sends it once. */
const WITH_NOTICES_MS: Readonly<Partial<Record<ConnectionKind, number>>> = { calendly: DAY_MS };
const BATCH = 20;
const CONCURRENCY = 10;
/** Appointments of a connection that are compared, the next ones first. */
const KNOWN_MAX = 5_000;
/** An appointment that has begun is followed this much longer. */
const BEGUN_MS = DAY_MS;

/** Background task. A connection that fails is asked again when it is due the next time. */
export async function pollConnections(deps: OpenDeps, signal: AbortSignal): Promise<void> {
  const now = deps.clock.now();
  await atEveryHome(deps.db, async ({ writer }) => {
    const due = claimAll(writer, now);
    const pollDue = async () => {
      for await (const connection of due) {
        if (signal.aborted) return;
        await pollSafely(deps, connection, signal);
      }
    };
    await Promise.all(Array.from({ length: CONCURRENCY }, pollDue));
  });
}

/** Batch by batch, so that few are claimed but not asked if this process ends. */
async function* claimAll(home: Db, now: Date): AsyncGenerator<FollowedConnection> {
  for (;;) {
    const claimed = await claimFollowed(home, { now, toEveryMs, limit: BATCH });
    if (claimed.length === 0) return;
    yield* claimed;
  }
}

async function pollSafely(deps: OpenDeps, connection: FollowedConnection, signal: AbortSignal): Promise<void> {
  try {
    await poll(deps, connection, signal);
  } catch (error) {
    deps.log.error("connection.poll_failed", { organizationId: connection.organizationId, error });
  }
}

function toEveryMs({ kind, getsNotices }: { kind: ConnectionKind; getsNotices: boolean }): number {
  return (getsNotices ? WITH_NOTICES_MS[kind] : undefined) ?? EVERY_MS[kind];
}

async function poll(
  deps: OpenDeps,
  { organizationId: owner, id, since }: FollowedConnection,
  signal: AbortSignal,
): Promise<void> {
  const system = await openConnection(deps, owner, id);
  if (!system?.listChanged) return;
  const now = deps.clock.now();
  const startFrom = new Date(now.getTime() - BEGUN_MS);
  const known = await listKnown(deps.db, owner, { id, startFrom, limit: KNOWN_MAX });
  const changed = await system.listChanged({ since, known }, signal);
  if (changed.kind !== "found") return;
  const references = await findReferences(deps.db, owner, { id, externalIds: changed.value.externalIds });
  if (references.length > 0) await markDue(deps.db, owner, { references, now });
  // Only now: what was seen must not be forgotten.
  if (changed.value.until) await noteSeen(deps.db, owner, { id, until: changed.value.until });
}
