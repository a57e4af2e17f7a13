import { sql } from "kysely";
import type { DeletionReason } from "#contract/bookings/booking-changes.ts";
import {
  type DeliveryId,
  type EndpointId,
  type OrganizationId,
  REFERENCE_PATTERN,
  type Reference,
  type WidgetId,
} from "#contract/ids.ts";
import type { Db } from "../../db/connections/pool.ts";
import { table } from "../../db/home.ts";

export async function listDeliveryIds(
  transaction: Db,
  owner: OrganizationId,
  references: readonly Reference[],
): Promise<DeliveryId[]> {
  const { rows } = await sql<{ id: DeliveryId }>`
    select delivery.id from ${table("webhook_events", "event")}
    join ${table("deliveries", "delivery")} on delivery.organization_id = event.organization_id and delivery.event_id = event.id
    where event.organization_id = ${owner} and event.reference = any(${references as Reference[]}::text[])
      and event.type <> 'booking.erased'`.execute(transaction);
  return rows.map(({ id }) => id);
}

/** Waits for claims and reports of these rows. */
export async function lockQueued(transaction: Db, owner: OrganizationId, ids: readonly DeliveryId[]): Promise<void> {
  await sql`
    select from ${table("delivery_queue")} where organization_id = ${owner} and delivery_id = any(${ids as DeliveryId[]}::uuid[])
    order by delivery_id for update`.execute(transaction);
}

export async function deleteQueued(transaction: Db, owner: OrganizationId, ids: readonly DeliveryId[]): Promise<void> {
  await sql`
    delete from ${table("delivery_queue")} where organization_id = ${owner} and delivery_id = any(${ids as DeliveryId[]}::uuid[])`.execute(
    transaction,
  );
}

/** With their deliveries and attempts. */
export async function deleteEvents(
  transaction: Db,
  owner: OrganizationId,
  references: readonly Reference[],
): Promise<void> {
  await sql`
    delete from ${table("webhook_events")}
    where organization_id = ${owner} and reference = any(${references as Reference[]}::text[])`.execute(transaction);
}

/** The worker can no longer report the requests in flight. */
export async function logInterrupted(
  transaction: Db,
  owner: OrganizationId,
  ids: readonly DeliveryId[],
): Promise<void> {
  await sql`
    with in_flight as (
      update ${table("deliveries", "delivery")} set attempt_count = attempt_count + 1
      from ${table("delivery_queue", "queue")}
      where delivery.organization_id = ${owner} and delivery.id = any(${ids as DeliveryId[]}::uuid[])
        and queue.organization_id = ${owner} and queue.delivery_id = delivery.id and queue.lease_token is not null
      returning delivery.id, delivery.attempt_count, queue.endpoint_id, queue.trigger, queue.leased_at
    )
    insert into ${table("delivery_attempts")} (organization_id, delivery_id, number, endpoint_id, trigger, started_at, result,
      error_code)
    select ${owner}, id, attempt_count, endpoint_id, trigger, leased_at, 'interrupted', 'interrupted' from in_flight`.execute(
    transaction,
  );
}

export async function eraseContent(
  transaction: Db,
  owner: OrganizationId,
  { references, now }: { references: readonly Reference[]; now: Date },
): Promise<void> {
  await sql`
    with events as (
      update ${table("webhook_events")} set body = null, reference = null
      where organization_id = ${owner} and reference = any(${references as Reference[]}::text[]) and type <> 'booking.erased'
      returning id
    ), erased as (
      update ${table("deliveries")} set card = null, next_attempt_at = null,
        state = case when state in ('queued', 'retrying') then 'canceled' else state end,
        cancel_reason = case when state in ('queued', 'retrying') then 'erased' else cancel_reason end,
        completed_at = coalesce(completed_at, ${now})
      from events where deliveries.organization_id = ${owner} and deliveries.event_id = events.id
      returning deliveries.id
    )
    update ${table("delivery_attempts")} set reply = null, detail = null, next_attempt_at = null
    from erased where delivery_attempts.organization_id = ${owner} and delivery_attempts.delivery_id = erased.id`.execute(
    transaction,
  );
}

/** Within a text, so without the anchors. */
const REFERENCE_FORM = REFERENCE_PATTERN.slice(1, -1);

/** A notice names one booking at most. */
export async function eraseFromNotices(
  transaction: Db,
  owner: OrganizationId,
  references: readonly Reference[],
): Promise<void> {
  await sql`
    update ${table("endpoint_notices")} set detail = regexp_replace(detail, ${sql.lit(REFERENCE_FORM)}, 'an erased booking')
    where organization_id = ${owner}
      and substring(detail from ${sql.lit(REFERENCE_FORM)}) = any(${references as Reference[]}::text[])`.execute(
    transaction,
  );
}

type Listener = { id: EndpointId; status: "enabled" | "disabled"; widget_ids: WidgetId[] | null };

export async function listListeners(db: Db, owner: OrganizationId, reason: DeletionReason): Promise<Listener[]> {
  const { rows } = await sql<Listener>`
    select id, status, widget_ids from ${table("endpoints")}
    where organization_id = ${owner} and removed_at is null and 'booking.erased' = any(event_types)
      and (reports_expiry or ${reason} <> 'expired')
    order by id`.execute(db);
  return rows;
}
