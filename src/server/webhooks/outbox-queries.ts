import { type Insertable, sql } from "kysely";
import type { AttemptTrigger } from "#contract/delivery.ts";
import type { EndpointKind, EndpointStatus } from "#contract/endpoint.ts";
import type { DeliveryId, EndpointId, OrganizationId, WebhookEventId } from "#contract/ids.ts";
import type { Db } from "../db/pool.ts";
import type { WebhookEventsTable } from "../db/tables.ts";

/** Workers listen here. */
export const DELIVERIES_CHANNEL = "bookflow_deliveries";

/** Disabled ones too: what they miss is recorded as canceled, and can be sent later. */
export async function listEndpointsForEvent(
  db: Db,
  owner: OrganizationId,
): Promise<{ id: EndpointId; kind: EndpointKind; status: EndpointStatus }[]> {
  return await db
    .selectFrom("endpoints")
    .select(["id", "kind", "status"])
    .where("organization_id", "=", owner)
    .where("removed_at", "is", null)
    .orderBy("id")
    .execute();
}

export async function insertWebhookEvent(
  db: Db,
  owner: OrganizationId,
  event: Omit<Insertable<WebhookEventsTable>, "organization_id">,
): Promise<void> {
  await db
    .insertInto("webhook_events")
    .values({ ...event, organization_id: owner })
    .execute();
}

export type NewDelivery = {
  id: DeliveryId;
  eventId: WebhookEventId;
  endpointId: EndpointId;
  card: Buffer | null;
  isEnabled: boolean;
  trigger: AttemptTrigger;
  now: Date;
};

/** One delivery each, and a place in the queue for those whose endpoint is enabled. */
export async function insertDeliveries(
  db: Db,
  owner: OrganizationId,
  deliveries: readonly NewDelivery[],
): Promise<void> {
  await db
    .insertInto("deliveries")
    .values(
      deliveries.map((delivery) => ({
        organization_id: owner,
        id: delivery.id,
        event_id: delivery.eventId,
        endpoint_id: delivery.endpointId,
        state: delivery.isEnabled ? ("queued" as const) : ("canceled" as const),
        cancel_reason: delivery.isEnabled ? null : ("endpoint_disabled" as const),
        card: delivery.card,
        attempt_count: 0,
        retries_used: 0,
        next_attempt_at: delivery.isEnabled ? delivery.now : null,
        last_status: null,
        last_error: null,
        created_at: delivery.now,
        completed_at: delivery.isEnabled ? null : delivery.now,
      })),
    )
    .execute();
  const enabled = deliveries.filter((delivery) => delivery.isEnabled);
  if (enabled.length === 0) return;
  await db
    .insertInto("delivery_queue")
    .values(
      enabled.map((delivery) => ({
        delivery_id: delivery.id,
        organization_id: owner,
        endpoint_id: delivery.endpointId,
        trigger: delivery.trigger,
        due_at: delivery.now,
        lease_token: null,
        lease_until: null,
      })),
    )
    .execute();
}

/** Not in a transaction that stores a booking: those that notify wait for one another until they are on the disk. */
export async function notifyWorkers(db: Db): Promise<void> {
  await sql`select pg_notify(${DELIVERIES_CHANNEL}, '')`.execute(db);
}
