import type { DeliveryId, OrganizationId } from "#contract/ids.ts";
import { type Plan, planIncludes } from "#contract/plans.ts";
import type { Db } from "../../db/pool.ts";
import { inTransaction } from "../../db/transactions.ts";
import type { Deps } from "../../deps.ts";
import { queueDeliveries } from "../outbox/queries.ts";
import { wakeWorkers } from "../outbox/wake-workers.ts";
import { toLogKeptSince } from "./period.ts";
import { findRedeliverable, isInQueue, type Redeliverable } from "./redeliver-queries.ts";

type RedeliverDeps = Pick<Deps, "db" | "clock" | "log">;
type Owner = { id: OrganizationId; plan: Plan };
/** Runs in the transaction that queues the delivery, for example to audit it. */
export type AlongsideRedelivery = (transaction: Db, delivery: Redeliverable) => Promise<void>;

type RedeliverRefusal =
  | { kind: "plan_required" }
  | { kind: "not_found" }
  | { kind: "already_queued" }
  | { kind: "endpoint_removed" }
  | { kind: "endpoint_disabled" }
  /** Its booking was erased, so there is nothing left to send. */
  | { kind: "payload_erased" };

/** Same delivery id and bytes, new signature, next attempt number. Uses no retry, and a failure leaves the state. */
export async function redeliver(
  deps: RedeliverDeps,
  owner: Owner,
  id: DeliveryId,
  alongside?: AlongsideRedelivery,
): Promise<{ kind: "queued" } | RedeliverRefusal> {
  if (!planIncludes(owner.plan, "webhooks")) return { kind: "plan_required" };
  const outcome = await queueOne(deps, owner.id, { id, alongside });
  if (outcome.kind === "queued") await wakeWorkers(deps, owner.id);
  return outcome;
}

async function queueOne(
  deps: RedeliverDeps,
  owner: OrganizationId,
  { id, alongside }: { id: DeliveryId; alongside: AlongsideRedelivery | undefined },
): Promise<{ kind: "queued" } | RedeliverRefusal> {
  return await inTransaction(deps.db, async (transaction): Promise<{ kind: "queued" } | RedeliverRefusal> => {
    // Queue rows are locked before deliveries: see queue/claim.ts.
    const isWaiting = await isInQueue(transaction, owner, id);
    const now = deps.clock.now();
    const delivery = await findRedeliverable(transaction, owner, { id, keptSince: toLogKeptSince(now) });
    if (!delivery) return { kind: "not_found" };
    // What can never be sent again comes before what may change.
    if (!delivery.has_body) return { kind: "payload_erased" };
    if (delivery.endpoint_removed_at !== null) return { kind: "endpoint_removed" };
    if (delivery.endpoint_status === "disabled") return { kind: "endpoint_disabled" };
    if (isWaiting || delivery.state === "queued" || delivery.state === "retrying") return { kind: "already_queued" };
    const queued = await queueDeliveries(transaction, owner, {
      deliveries: [{ id, endpointId: delivery.endpoint_id }],
      trigger: "manual",
      // Tests are sent before everything else, so there may be few of them: a redelivered one waits for its turn.
      isTest: false,
      dueAt: now,
    });
    if (queued.length === 0) return { kind: "already_queued" };
    await alongside?.(transaction, delivery);
    return { kind: "queued" };
  });
}
