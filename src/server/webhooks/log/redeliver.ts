import type { DeliveryId, EndpointId, OrganizationId } from "#contract/ids.ts";
import { type Plan, planIncludes } from "#contract/plans.ts";
import type { Db } from "../../db/pool.ts";
import type { Deps } from "../../deps.ts";
import { findEndpoint } from "../endpoints/queries.ts";
import { queueDeliveries } from "../outbox/queries.ts";
import { wakeWorkers } from "../outbox/wake-workers.ts";
import { toLogKeptSince } from "./period.ts";
import { findRedeliverable, isInQueue, listFailed, type Redeliverable } from "./redeliver-queries.ts";

/** Deliveries queued per statement. */
const REDELIVER_BATCH = 500;

type RedeliverDeps = Pick<Deps, "db" | "clock" | "log">;
type Owner = { id: OrganizationId; plan: Plan };
/** Runs in the transaction that queues the delivery, for example to audit it. */
export type AlongsideRedelivery = (transaction: Db, delivery: Redeliverable) => Promise<void>;
const nothingElse: AlongsideRedelivery = async () => undefined;

export type RedeliverRefusal =
  | { kind: "plan_required" }
  | { kind: "not_found" }
  | { kind: "already_queued" }
  | { kind: "endpoint_removed" }
  | { kind: "endpoint_disabled" }
  /** Its booking was erased, so there is nothing left to send. */
  | { kind: "payload_erased" };

/**
 * Queues one more attempt of a finished delivery: same delivery id and bytes, new signature, next attempt number. A manual
 * attempt uses no retry, and if it fails the delivery keeps its state.
 */
export async function redeliver(
  deps: RedeliverDeps,
  owner: Owner,
  id: DeliveryId,
  alongside = nothingElse,
): Promise<{ kind: "queued" } | RedeliverRefusal> {
  if (!planIncludes(owner.plan, "webhooks")) return { kind: "plan_required" };
  const outcome = await queueOne(deps, owner.id, { id, alongside });
  if (outcome.kind === "queued") await wakeWorkers(deps);
  return outcome;
}

async function queueOne(
  deps: RedeliverDeps,
  owner: OrganizationId,
  { id, alongside }: { id: DeliveryId; alongside: AlongsideRedelivery },
): Promise<{ kind: "queued" } | RedeliverRefusal> {
  return await deps.db.transaction().execute(async (transaction): Promise<{ kind: "queued" } | RedeliverRefusal> => {
    // Queue rows are locked before deliveries: see queue/claim.ts.
    const isWaiting = await isInQueue(transaction, owner, id);
    const now = deps.clock.now();
    const delivery = await findRedeliverable(transaction, owner, { id, keptSince: toLogKeptSince(now) });
    if (!delivery) return { kind: "not_found" };
    if (isWaiting || delivery.state === "queued" || delivery.state === "retrying") return { kind: "already_queued" };
    if (delivery.endpoint_removed_at !== null) return { kind: "endpoint_removed" };
    if (delivery.endpoint_status === "disabled") return { kind: "endpoint_disabled" };
    if (!delivery.has_body) return { kind: "payload_erased" };
    const queued = await queueDeliveries(transaction, owner, {
      deliveries: [{ id, endpointId: delivery.endpoint_id }],
      trigger: "manual",
      isTest: delivery.is_test,
      dueAt: now,
    });
    if (queued.length === 0) return { kind: "already_queued" };
    await alongside(transaction, delivery);
    return { kind: "queued" };
  });
}

/**
 * Queues one more attempt of every failed delivery of an endpoint created since then, and returns how many.
 * `includeMissed` adds deliveries that were cancelled because the endpoint was off.
 */
export async function redeliverFailed(
  deps: RedeliverDeps,
  owner: Owner,
  wanted: { endpointId: EndpointId; since: Date; includeMissed: boolean },
): Promise<{ kind: "queued"; count: number } | RedeliverRefusal> {
  if (!planIncludes(owner.plan, "webhooks")) return { kind: "plan_required" };
  const endpoint = await findEndpoint(deps.db, owner.id, wanted.endpointId);
  if (!endpoint) return { kind: "not_found" };
  if (endpoint.status === "disabled") return { kind: "endpoint_disabled" };

  let count = 0;
  let after: { createdAt: Date; id: string } = { createdAt: wanted.since, id: "00000000-0000-0000-0000-000000000000" };
  for (;;) {
    // Move forward by time: a delivery queued in the first batch may have failed again before the last batch.
    const dueAt = deps.clock.now();
    const deliveries = await listFailed(deps.db, owner.id, {
      endpointId: wanted.endpointId,
      includeMissed: wanted.includeMissed,
      after,
      keptSince: toLogKeptSince(dueAt),
      limit: REDELIVER_BATCH,
    });
    const batch = { deliveries, trigger: "manual", isTest: false, dueAt } as const;
    const queued = await queueDeliveries(deps.db, owner.id, batch);
    count += queued.length;
    if (queued.length > 0) await wakeWorkers(deps);
    const last = deliveries.at(-1);
    if (!last || deliveries.length < REDELIVER_BATCH) return { kind: "queued", count };
    after = last;
  }
}
