import { DAY_MS, MINUTE_MS } from "#contract/durations.ts";
import { CONNECTION_KINDS, type ConnectionKind } from "#contract/scheduling.ts";
import type { Db } from "../../db/connections/pool.ts";
import { atEveryHome } from "../../db/home.ts";
import { type OpenDeps, openConnection } from "../../scheduler/scheduler.ts";
import { findReferences, markDue } from "./check-queries.ts";
import { claimFollowedAcrossOrganizations, type FollowedConnection, listKnown, notePolled } from "./poll-queries.ts";

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
/** Of connections of one kind. If Cal.com doesn't answer, connections to Calendly don't wait for it. */
const CONCURRENCY = 5;
/** Appointments of a connection that are compared, the next ones first. */
const KNOWN_MAX = 5_000;
/** An appointment that has begun is followed this much longer. */
const BEGUN_MS = DAY_MS;

/** Background task. A connection that fails, or whose process ends, is asked again a period later. */
export async function pollConnections(deps: OpenDeps, signal: AbortSignal): Promise<void> {
  const now = deps.clock.now();
  await atEveryHome(deps.db, async ({ writer }) => {
    const pollKind = async (kind: ConnectionKind) => {
      const due = claimAll(writer, { kind, now });
      const pollDue = async () => {
        for await (const connection of due) {
          if (signal.aborted) return;
          await pollSafely(deps, { kind, connection }, signal);
        }
      };
      await Promise.all(Array.from({ length: CONCURRENCY }, pollDue));
    };
    await Promise.all(CONNECTION_KINDS.map(pollKind));
  });
}

async function* claimAll(home: Db, { kind, now }: { kind: ConnectionKind; now: Date }) {
  for (;;) {
    const dueAgainAt = inMs(now, EVERY_MS[kind]);
    const claimed = await claimFollowedAcrossOrganizations(home, {
      kind,
      now,
      dueAgainAt,
      longestMs: DAY_MS,
      limit: BATCH,
    });
    if (claimed.length === 0) return;
    yield* claimed;
  }
}

function inMs(now: Date, ms: number): Date {
  return new Date(now.getTime() + ms);
}

type Due = { kind: ConnectionKind; connection: FollowedConnection };

async function pollSafely(deps: OpenDeps, due: Due, signal: AbortSignal): Promise<void> {
  try {
    await poll(deps, due, signal);
  } catch (error) {
    deps.log.error("connection.poll_failed", { organizationId: due.connection.organizationId, error });
  }
}

async function poll(deps: OpenDeps, { kind, connection }: Due, signal: AbortSignal): Promise<void> {
  const { organizationId: owner, id, since, getsNotices } = connection;
  const system = await openConnection(deps, owner, id);
  if (!system?.listChanged) return;
  const now = deps.clock.now();
  const known = await listKnown(deps.db, owner, { id, startFrom: inMs(now, -BEGUN_MS), limit: KNOWN_MAX });
  const changed = await system.listChanged({ since, known }, signal);
  if (changed.kind !== "found") return;
  const { externalIds, until } = changed.value;
  const references = await findReferences(deps.db, owner, { id, externalIds });
  if (references.length > 0) await markDue(deps.db, owner, { references, now });
  // Only now: what was seen must not be forgotten.
  const everyMs = (getsNotices ? WITH_NOTICES_MS[kind] : undefined) ?? EVERY_MS[kind];
  await notePolled(deps.db, connection, { until, dueAgainAt: inMs(now, everyMs) });
}
