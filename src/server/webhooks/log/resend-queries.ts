import { sql } from "kysely";
import type { DeliveryId, EndpointId, OrganizationId, Reference } from "#contract/ids.ts";
import type { DeliveryState } from "#contract/webhooks/delivery.ts";
import type { EndpointStatus } from "#contract/webhooks/endpoint.ts";
import type { Db } from "../../db/connections/pool.ts";
import { isInLog } from "./queries.ts";

export type Redeliverable = {
  id: DeliveryId;
  endpoint_id: EndpointId;
  state: DeliveryState;
  /** Null for a test. */
  reference: Reference | null;
  endpoint_url: string;
  endpoint_description: string;
  endpoint_status: EndpointStatus;
  endpoint_removed_at: Date | null;
  has_body: boolean;
};

/** Locks the delivery and its event, so that erasure and retention happen before or after, not in between. */
export async function findRedeliverable(
  transaction: Db,
  owner: OrganizationId,
  { id, keptSince }: { id: DeliveryId; keptSince: Date },
): Promise<Redeliverable | null> {
  const { rows } = await sql<Redeliverable>`
    select delivery.id, delivery.endpoint_id, delivery.state, event.reference, endpoint.url as endpoint_url,
      endpoint.description as endpoint_description, endpoint.status as endpoint_status,
      endpoint.removed_at as endpoint_removed_at, coalesce(delivery.card, event.body) is not null as has_body
    from webhook_events event
    join deliveries delivery on delivery.organization_id = event.organization_id and delivery.event_id = event.id
    join endpoints endpoint on endpoint.organization_id = delivery.organization_id and endpoint.id = delivery.endpoint_id
    where delivery.organization_id = ${owner} and delivery.id = ${id} and ${isInLog(owner, keptSince)}
    for no key update of event, delivery`.execute(transaction);
  return rows[0] ?? null;
}

/** The delivery's place in the queue, locked; null if it does not wait. Waits for a report that is just removing it. */
export async function lockWaiting(
  transaction: Db,
  owner: OrganizationId,
  id: DeliveryId,
): Promise<{ isInFlight: boolean } | null> {
  const row = await transaction
    .selectFrom("delivery_queue")
    .select("lease_token")
    .where("organization_id", "=", owner)
    .where("delivery_id", "=", id)
    .forUpdate()
    .executeTakeFirst();
  return row ? { isInFlight: row.lease_token !== null } : null;
}

/** How many deliveries to the endpoint are due and not being sent. */
export async function countDue(
  db: Db,
  owner: OrganizationId,
  { endpointId, now }: { endpointId: EndpointId; now: Date },
): Promise<number> {
  const { count } = await db
    .selectFrom("delivery_queue")
    .select(({ fn }) => fn.countAll<number>().as("count"))
    .where("organization_id", "=", owner)
    .where("endpoint_id", "=", endpointId)
    .where("lease_token", "is", null)
    .where("due_at", "<=", now)
    .executeTakeFirstOrThrow();
  return count;
}

/** The delivery does not wait for the end of its receiver's pause. */
export async function makeUrgent(transaction: Db, owner: OrganizationId, id: DeliveryId): Promise<void> {
  await transaction
    .updateTable("delivery_queue")
    .set({ is_urgent: true })
    .where("organization_id", "=", owner)
    .where("delivery_id", "=", id)
    .execute();
}

/**
 * Makes waiting deliveries due now, and returns them. A retry that was due later becomes a manual attempt that remembers
 * when. Redeliveries and tests have no schedule to continue, so they only become due; whatever is due already stays as it is.
 */
export async function advanceWaiting(
  transaction: Db,
  owner: OrganizationId,
  waiting: { now: Date; limit: number } & ({ deliveryId: DeliveryId } | { endpointId: EndpointId }),
): Promise<DeliveryId[]> {
  const which =
    "endpointId" in waiting ? sql`endpoint_id = ${waiting.endpointId}` : sql`delivery_id = ${waiting.deliveryId}::uuid`;
  const { rows } = await sql<{ delivery_id: DeliveryId }>`
    with chosen as materialized (
      select delivery_id from delivery_queue
      where organization_id = ${owner} and lease_token is null and ${which} and due_at > ${waiting.now}::timestamptz
      order by due_at limit ${waiting.limit}
      for update
    )
    update delivery_queue queue
    set due_at = ${waiting.now}::timestamptz,
      resume_at = case when queue.trigger = 'automatic' and not queue.is_test then queue.due_at else queue.resume_at end,
      trigger = case when queue.is_test then queue.trigger else 'manual' end
    from chosen where queue.organization_id = ${owner} and queue.delivery_id = chosen.delivery_id
    returning queue.delivery_id`.execute(transaction);
  return rows.map((row) => row.delivery_id);
}

/** The log shows when the next attempt is due. */
export async function showAdvanced(
  transaction: Db,
  owner: OrganizationId,
  { deliveryIds, now }: { deliveryIds: readonly DeliveryId[]; now: Date },
): Promise<void> {
  if (deliveryIds.length === 0) return;
  await transaction
    .updateTable("deliveries")
    .set({ next_attempt_at: now })
    .where("organization_id", "=", owner)
    .where("id", "in", [...deliveryIds])
    .execute();
}
