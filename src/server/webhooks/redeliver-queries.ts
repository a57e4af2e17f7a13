import { sql } from "kysely";
import type { DeliveryState } from "#contract/delivery.ts";
import type { EndpointStatus } from "#contract/endpoint.ts";
import type { DeliveryId, EndpointId, OrganizationId } from "#contract/ids.ts";
import type { Db } from "../db/pool.ts";

export type Redeliverable = {
  id: DeliveryId;
  endpoint_id: EndpointId;
  state: DeliveryState;
  endpoint_status: EndpointStatus;
  endpoint_removed_at: Date | null;
  has_body: boolean;
};

/** With its row locked: an erasure at the same moment comes before or after, not in between. */
export async function findRedeliverable(
  transaction: Db,
  owner: OrganizationId,
  id: DeliveryId,
): Promise<Redeliverable | null> {
  const { rows } = await sql<Redeliverable>`
    select delivery.id, delivery.endpoint_id, delivery.state, endpoint.status as endpoint_status,
      endpoint.removed_at as endpoint_removed_at, coalesce(delivery.card, event.body) is not null as has_body
    from deliveries delivery
    join endpoints endpoint on endpoint.id = delivery.endpoint_id
    join webhook_events event on event.organization_id = delivery.organization_id and event.id = delivery.event_id
    where delivery.organization_id = ${owner} and delivery.id = ${id}
    for update of delivery`.execute(transaction);
  return rows[0] ?? null;
}

/** False when it has a place in the queue already: each delivery has one at most. */
export async function queueManually(
  transaction: Db,
  owner: OrganizationId,
  delivery: { id: DeliveryId; endpoint_id: EndpointId; dueAt: Date },
): Promise<boolean> {
  const rows = await transaction
    .insertInto("delivery_queue")
    .values({
      delivery_id: delivery.id,
      organization_id: owner,
      endpoint_id: delivery.endpoint_id,
      trigger: "manual",
      due_at: delivery.dueAt,
      lease_token: null,
      lease_until: null,
    })
    .onConflict((conflict) => conflict.column("delivery_id").doNothing())
    .returning("delivery_id")
    .execute();
  return rows.length === 1;
}

/** Failed, not waiting for a manual attempt already, and with something left to send. */
export async function listFailedSince(
  db: Db,
  owner: OrganizationId,
  about: { endpointId: EndpointId; since: Date; limit: number },
): Promise<DeliveryId[]> {
  const { rows } = await sql<{ id: DeliveryId }>`
    select delivery.id from deliveries delivery
    join webhook_events event on event.organization_id = delivery.organization_id and event.id = delivery.event_id
    where delivery.organization_id = ${owner} and delivery.endpoint_id = ${about.endpointId}
      and delivery.created_at >= ${about.since} and delivery.state = 'failed' and event.body is not null
      and not exists (select from delivery_queue where delivery_id = delivery.id)
    order by delivery.created_at limit ${about.limit}`.execute(db);
  return rows.map((row) => row.id);
}
