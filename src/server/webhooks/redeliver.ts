import type { DeliveryId, EndpointId, OrganizationId } from "#contract/ids.ts";
import { type Plan, planIncludes } from "#contract/plans.ts";
import type { Deps } from "../deps.ts";
import { wakeWorkers } from "./outbox-queries.ts";
import { findRedeliverable, listFailedSince, queueManually } from "./redeliver-queries.ts";

/** Deliveries that one call queues at most; the caller goes on while it returns this many. */
export const REDELIVER_BATCH = 500;

export type RedeliverRefusal =
  | { kind: "plan_required" }
  | { kind: "not_found" }
  /** It waits or is being sent already. */
  | { kind: "under_way" }
  | { kind: "endpoint_removed" }
  | { kind: "endpoint_disabled" }
  /** Its booking was erased: there is nothing left to send. */
  | { kind: "payload_erased" };

/**
 * Queues one more attempt of a delivery that is over: the same delivery id and the same bytes, signed anew, next attempt
 * number. A manual attempt uses no retry and starts no series; failing, it leaves the delivery as it was.
 */
export async function redeliver(
  deps: Pick<Deps, "db" | "clock">,
  owner: { id: OrganizationId; plan: Plan },
  id: DeliveryId,
): Promise<{ kind: "queued" } | RedeliverRefusal> {
  if (!planIncludes(owner.plan, "webhooks")) return { kind: "plan_required" };
  return await deps.db.transaction().execute(async (transaction): Promise<{ kind: "queued" } | RedeliverRefusal> => {
    const delivery = await findRedeliverable(transaction, owner.id, id);
    if (!delivery) return { kind: "not_found" };
    if (delivery.state === "queued" || delivery.state === "retrying") return { kind: "under_way" };
    if (delivery.endpoint_removed_at !== null) return { kind: "endpoint_removed" };
    if (delivery.endpoint_status === "disabled") return { kind: "endpoint_disabled" };
    if (!delivery.has_body) return { kind: "payload_erased" };
    const isQueued = await queueManually(transaction, owner.id, { ...delivery, dueAt: deps.clock.now() });
    if (!isQueued) return { kind: "under_way" };
    await wakeWorkers(transaction);
    return { kind: "queued" };
  });
}

/** Queues the failed deliveries of an endpoint made since then, oldest first, at most a batch. Returns how many. */
export async function redeliverFailed(
  deps: Pick<Deps, "db" | "clock">,
  owner: { id: OrganizationId; plan: Plan },
  about: { endpointId: EndpointId; since: Date },
): Promise<number> {
  let queued = 0;
  for (const id of await listFailedSince(deps.db, owner.id, { ...about, limit: REDELIVER_BATCH })) {
    if ((await redeliver(deps, owner, id)).kind === "queued") queued += 1;
  }
  return queued;
}
