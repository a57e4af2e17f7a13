import { type EndpointId, type OrganizationId, REDELIVERY_ID, type RedeliveryId } from "#contract/ids.ts";
import type { RedeliveryFilter } from "#contract/webhooks/delivery.ts";
import type { AuditOf } from "../../audit/audit.ts";
import type { Db } from "../../db/connections/pool.ts";
import { atEveryHome } from "../../db/home.ts";
import { inHome, inTransaction } from "../../db/statements/transactions.ts";
import type { Deps } from "../../deps.ts";
import { LoggableError } from "../../lib/log/loggable-error.ts";
import { randomId } from "../../lib/secrets/random.ts";
import { findEndpoint } from "../endpoints/queries.ts";
import { queueDeliveries } from "../outbox/queries.ts";
import { wakeWorkers } from "../outbox/wake-workers.ts";
import {
  countMatching,
  countUnsent,
  endRedelivery,
  insertRedelivery,
  listMatching,
  listRunningAcrossOrganizations,
  listStates,
  lockRedeliveries,
  lockRedelivery,
  requeueDeliveries,
  saveProgress,
} from "./bulk-redelivery-queries.ts";
import { toLogKeptSince } from "./queries.ts";

// A bulk redelivery starts the whole schedule of every matching delivery again, with all its retries. Its row remembers how far it
// got, in the transaction that queued the last batch, so that any worker can continue after a crash.

type RedeliveryDeps = Pick<Deps, "db" | "clock" | "random" | "log">;

const BATCH = 500;
/** How many of an organization's redeliveries may wait for their first attempt: its new bookings wait behind them. */
const UNSENT_MAX = 1_000;

export type RedeliveryRefusal = { kind: "no_endpoint" } | { kind: "endpoint_disabled" };

/** What `startRedelivery` would send, so that people can be asked first. */
export async function countRedelivery(
  deps: RedeliveryDeps,
  owner: OrganizationId,
  filter: RedeliveryFilter,
): Promise<{ kind: "counted"; matched: number } | RedeliveryRefusal> {
  const refusal = await findRefusal(deps, owner, filter);
  if (refusal) return refusal;
  const keptSince = toLogKeptSince(deps.clock.now());
  return { kind: "counted", matched: await countMatching(deps.db, owner, { filter, keptSince }) };
}

async function findRefusal(
  deps: RedeliveryDeps,
  owner: OrganizationId,
  filter: RedeliveryFilter,
): Promise<RedeliveryRefusal | null> {
  if (filter.endpoint === undefined) return null;
  const endpoint = await findEndpoint(deps.db, owner, filter.endpoint as EndpointId);
  if (!endpoint) return { kind: "no_endpoint" };
  return endpoint.status === "disabled" ? { kind: "endpoint_disabled" } : null;
}

export async function startRedelivery(
  deps: RedeliveryDeps,
  owner: OrganizationId,
  filter: RedeliveryFilter,
  audit: AuditOf<{ id: RedeliveryId; matched: number }>,
): Promise<{ kind: "started"; id: RedeliveryId } | RedeliveryRefusal> {
  const refusal = await findRefusal(deps, owner, filter);
  if (refusal) return refusal;
  const now = deps.clock.now();
  const id = randomId<RedeliveryId>(deps.random, REDELIVERY_ID);
  await inTransaction(deps.db, async (transaction) => {
    const matched = await countMatching(transaction, owner, { filter, keptSince: toLogKeptSince(now) });
    await insertRedelivery(transaction, owner, { id, filter, matched, now });
    await audit(transaction, { id, matched });
  });
  // The task does the rest. Most redeliveries are small and are finished by this.
  await advanceRedelivery(deps, owner, id).catch((error: unknown) =>
    deps.log.warn("redelivery.start_failed", { organizationId: owner, error }),
  );
  return { kind: "started", id };
}

/** False if it has ended. Deliveries that are queued already are still sent. */
export async function cancelRedelivery(
  deps: Pick<Deps, "db" | "clock">,
  owner: OrganizationId,
  id: RedeliveryId,
  audit: (transaction: Db) => Promise<void>,
): Promise<boolean> {
  return await inTransaction(deps.db, async (transaction) => {
    const isCanceled = await endRedelivery(transaction, owner, { id, state: "canceled", now: deps.clock.now() });
    if (isCanceled) await audit(transaction);
    return isCanceled;
  });
}

/** Background task: continues the redeliveries that are running. A failure in one does not stop the others. */
export async function runRedeliveries(deps: RedeliveryDeps, signal: AbortSignal): Promise<void> {
  await atEveryHome(deps.db, async ({ reader }) => {
    let failed = 0;
    let lastError: unknown;
    for (const { organization_id: owner, id } of await listRunningAcrossOrganizations(reader)) {
      try {
        while (!signal.aborted && (await advanceRedelivery(deps, owner, id)) === "advanced");
      } catch (error) {
        deps.log.error("redelivery.failed", { organizationId: owner, error });
        failed += 1;
        lastError = error;
      }
    }
    if (failed > 0)
      throw new LoggableError("Redeliveries that could not be continued", { count: failed, cause: lastError });
  });
}

/** Queues one batch. `waiting`: enough deliveries are unsent, or another worker is queueing them. */
async function advanceRedelivery(
  deps: RedeliveryDeps,
  owner: OrganizationId,
  id: RedeliveryId,
): Promise<"advanced" | "waiting" | "ended"> {
  const outcome = await inHome(deps.db, owner, async (transaction) => {
    const redelivery = (await lockRedeliveries(transaction, owner)) && (await lockRedelivery(transaction, owner, id));
    if (!redelivery) return "waiting";
    const limit = Math.min(BATCH, await findRoom(transaction, owner, id));
    if (limit <= 0) return "waiting";
    const now = deps.clock.now();
    const batch = { filter: redelivery.filter, after: redelivery.position, keptSince: toLogKeptSince(now), limit };
    const found = await listMatching(transaction, owner, batch);
    // Queue rows before deliveries: see queue/claim.ts.
    const queue = { deliveries: found, trigger: "automatic", isTest: false, dueAt: now, redeliveryId: id } as const;
    const queued = await queueDeliveries(transaction, owner, queue);
    await requeueDeliveries(transaction, owner, { ids: queued, redeliveryId: id, now });
    const last = found.at(-1);
    const position = last ? { at: last.createdAt, id: last.id } : redelivery.position;
    await saveProgress(transaction, owner, { id, position, queued: queued.length });
    if (found.length === limit) return "advanced";
    await endRedelivery(transaction, owner, { id, state: "finished", now });
    return "ended";
  });
  if (outcome !== "waiting") await wakeWorkers(deps, owner);
  return outcome;
}

/** How many more deliveries of this redelivery may wait; none if negative. Running redeliveries have equal shares. */
async function findRoom(transaction: Db, owner: OrganizationId, id: RedeliveryId): Promise<number> {
  const redeliveries = await listStates(transaction, owner);
  const running = redeliveries.filter(({ state }) => state === "running").length;
  const unsent = await countUnsent(
    transaction,
    owner,
    redeliveries.map((each) => each.id),
  );
  const total = unsent.values().reduce((sum, count) => sum + count, 0);
  return Math.min(UNSENT_MAX - total, Math.ceil(UNSENT_MAX / running) - (unsent.get(id) ?? 0));
}
