import { sql } from "kysely";
import type { DeliveryState } from "#contract/delivery.ts";
import type { EndpointStatus } from "#contract/endpoint.ts";
import type { DeliveryId, EndpointId, OrganizationId, Reference } from "#contract/ids.ts";
import type { Db } from "../../db/pool.ts";
import { isInLog, listRedelivering } from "./period.ts";

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

/** Whether the delivery is queued. Waits for a report that is just removing it from the queue. */
export async function isInQueue(transaction: Db, owner: OrganizationId, id: DeliveryId): Promise<boolean> {
  const rows = await transaction
    .selectFrom("delivery_queue")
    .select("delivery_id")
    .where("organization_id", "=", owner)
    .where("delivery_id", "=", id)
    .forUpdate()
    .execute();
  return rows.length === 1;
}

/** Locks the delivery and its event, so that erasure and retention happen before or after, not in between. */
export async function findRedeliverable(
  transaction: Db,
  owner: OrganizationId,
  { id, keptSince }: { id: DeliveryId; keptSince: Date },
): Promise<Redeliverable | null> {
  const redelivering = await listRedelivering(transaction, owner);
  const { rows } = await sql<Redeliverable>`
    select delivery.id, delivery.endpoint_id, delivery.state, event.reference, endpoint.url as endpoint_url,
      endpoint.description as endpoint_description, endpoint.status as endpoint_status,
      endpoint.removed_at as endpoint_removed_at, coalesce(delivery.card, event.body) is not null as has_body
    from webhook_events event
    join deliveries delivery on delivery.organization_id = event.organization_id and delivery.event_id = event.id
    join endpoints endpoint on endpoint.organization_id = delivery.organization_id and endpoint.id = delivery.endpoint_id
    where delivery.organization_id = ${owner} and delivery.id = ${id} and ${isInLog(owner, { keptSince, redelivering })}
    for no key update of event, delivery`.execute(transaction);
  return rows[0] ?? null;
}
