import type { DeliveryId, EndpointId, OrganizationId } from "#contract/ids.ts";
import type { AuditOf } from "../../audit/audit.ts";
import type { Db } from "../../db/connections/pool.ts";
import { inTransaction } from "../../db/statements/transactions.ts";
import type { Deps } from "../../deps.ts";
import { findEndpoint, lockEndpoint, updateEndpoint } from "../endpoints/queries.ts";
import { queueDeliveries } from "../outbox/queries.ts";
import { wakeWorkers } from "../outbox/wake-workers.ts";
import { writeLane } from "../queue/lanes.ts";
import { toLogKeptSince } from "./queries.ts";
import {
  advanceWaiting,
  countDue,
  findRedeliverable,
  lockWaiting,
  makeUrgent,
  type Redeliverable,
  showAdvanced,
} from "./resend-queries.ts";

type ResendDeps = Pick<Deps, "db" | "clock" | "log">;
type NamedEndpoint = { id: EndpointId; url: string; description: string };

type RedeliverRefusal =
  | { kind: "not_found" }
  | { kind: "already_queued" }
  | { kind: "endpoint_removed" }
  | { kind: "endpoint_disabled" }
  /** Its booking was erased, so there is nothing left to send. */
  | { kind: "payload_erased" };

/** Same delivery id and bytes, new signature, next attempt number. Uses no retry, and a failure leaves the state. */
export async function redeliver(
  deps: ResendDeps,
  owner: OrganizationId,
  id: DeliveryId,
  audit: AuditOf<Redeliverable>,
): Promise<{ kind: "queued" } | RedeliverRefusal> {
  const outcome = await queueOne(deps, owner, { id, audit });
  if (outcome.kind === "queued") await wakeWorkers(deps, owner, [id]);
  return outcome;
}

async function queueOne(
  deps: ResendDeps,
  owner: OrganizationId,
  { id, audit }: { id: DeliveryId; audit: AuditOf<Redeliverable> },
): Promise<{ kind: "queued" } | RedeliverRefusal> {
  return await inTransaction(deps.db, async (transaction): Promise<{ kind: "queued" } | RedeliverRefusal> => {
    // Queue rows are locked before deliveries: see queue/claim.ts.
    const waiting = await lockWaiting(transaction, owner, id);
    const now = deps.clock.now();
    const delivery = await findRedeliverable(transaction, owner, { id, keptSince: toLogKeptSince(now) });
    if (!delivery) return { kind: "not_found" };
    // What can never be sent again comes before what may change.
    if (!delivery.has_body) return { kind: "payload_erased" };
    if (delivery.endpoint_removed_at !== null) return { kind: "endpoint_removed" };
    if (delivery.endpoint_status === "disabled") return { kind: "endpoint_disabled" };
    if (waiting || delivery.state === "queued" || delivery.state === "retrying") return { kind: "already_queued" };
    const queued = await queueDeliveries(transaction, owner, {
      deliveries: [{ id, endpointId: delivery.endpoint_id }],
      trigger: "manual",
      // Tests are sent before everything else, so there may be few of them: a redelivered one waits for its turn.
      isTest: false,
      dueAt: now,
    });
    if (queued.length === 0) return { kind: "already_queued" };
    await audit(transaction, delivery);
    return { kind: "queued" };
  });
}

// "Retry now", for one retrying delivery and for all waiting deliveries of an endpoint. The attempt uses no retry of the
// schedule: if it fails, the schedule continues where it was (queue column resume_at, delivery/attempt-report.ts).

type RetryRefusal =
  | { kind: "not_found" }
  /** Nothing waits: it is finished. */
  | { kind: "not_waiting" }
  /** It is being sent now. */
  | { kind: "in_flight" }
  | { kind: "disabled" };

const RETRY_BATCH = 1_000;

/** Sends this delivery now, even if its receiver asked for a pause, which goes on for the others. */
export async function retryDelivery(
  deps: ResendDeps,
  owner: OrganizationId,
  id: DeliveryId,
  audit: AuditOf<Redeliverable>,
): Promise<{ kind: "retried" } | RetryRefusal> {
  const now = deps.clock.now();
  const outcome = await inTransaction(deps.db, async (transaction): Promise<{ kind: "retried" } | RetryRefusal> => {
    // Queue rows are locked before deliveries: see queue/claim.ts.
    const waiting = await lockWaiting(transaction, owner, id);
    const delivery = await findRedeliverable(transaction, owner, { id, keptSince: toLogKeptSince(now) });
    if (!delivery) return { kind: "not_found" };
    if (!waiting) return { kind: "not_waiting" };
    if (waiting.isInFlight) return { kind: "in_flight" };
    if (delivery.endpoint_status === "disabled") return { kind: "disabled" };
    const advanced = await advanceWaiting(transaction, owner, { deliveryId: id, now, limit: 1 });
    await makeUrgent(transaction, owner, id);
    await showAdvanced(transaction, owner, { deliveryIds: advanced, now });
    await audit(transaction, delivery);
    return { kind: "retried" };
  });
  if (outcome.kind === "retried") await wakeWorkers(deps, owner);
  return outcome;
}

/** For someone who has fixed the receiver: sends all waiting deliveries now, and no longer treats the endpoint as failing or paused. */
export async function retryAll(
  deps: ResendDeps,
  owner: OrganizationId,
  endpointId: EndpointId,
  audit: (transaction: Db, endpoint: NamedEndpoint, count: number) => Promise<void>,
): Promise<{ kind: "retried"; count: number } | { kind: "not_found" } | { kind: "disabled" }> {
  const endpoint = await findEndpoint(deps.db, owner, endpointId);
  if (!endpoint) return { kind: "not_found" };
  if (endpoint.status === "disabled") return { kind: "disabled" };
  const now = deps.clock.now();
  let count = await countDue(deps.db, owner, { endpointId, now });
  for (;;) {
    const advanced = await inTransaction(deps.db, async (transaction) => {
      const ids = await advanceWaiting(transaction, owner, { endpointId, now, limit: RETRY_BATCH });
      await showAdvanced(transaction, owner, { deliveryIds: ids, now });
      return ids.length;
    });
    count += advanced;
    if (advanced < RETRY_BATCH) break;
  }
  await inTransaction(deps.db, async (transaction) => {
    await openLane(transaction, owner, endpointId);
    await audit(transaction, endpoint, count);
  });
  await wakeWorkers(deps, owner);
  return { kind: "retried", count };
}

/** Ends a pause and the caution towards a failing receiver; one more failure or Retry-After brings them back. */
async function openLane(transaction: Db, owner: OrganizationId, id: EndpointId): Promise<void> {
  const endpoint = await lockEndpoint(transaction, owner, id);
  if (!endpoint || (endpoint.paused_until === null && endpoint.failed_attempts === 0)) return;
  const change = { paused_until: null, failed_attempts: 0 };
  const after = await updateEndpoint(transaction, owner, { id, change });
  if (after) await writeLane(transaction, after);
}
