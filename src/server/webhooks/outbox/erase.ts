import { sql } from "kysely";
import type { DeletionReason } from "#contract/bookings/booking-changes.ts";
import {
  type DeliveryId,
  type EndpointId,
  type OrganizationId,
  REFERENCE_PATTERN,
  type Reference,
  WEBHOOK_EVENT_ID,
  type WebhookEventId,
  type WidgetId,
} from "#contract/ids.ts";
import { type BookingErasedEvent, WEBHOOK_API_VERSION } from "#contract/webhooks/webhook-event.ts";
import type { Db } from "../../db/connections/pool.ts";
import { table } from "../../db/home.ts";
import { type Random, randomId, randomUuid } from "../../lib/secrets/random.ts";
import { findOrganization } from "../../organizations/organizations.ts";
import { listWidgets } from "../../widgets/widgets.ts";
import { isEventWanted } from "./outbox.ts";
import { insertEvents } from "./queries.ts";

/**
 * Erases everything that webhooks hold about these bookings, in the caller's transaction, which has locked the bookings:
 * cancels waiting deliveries and deletes stored bodies, cards, replies and references. The log keeps its lines without
 * content. A request in flight cannot be called back, but without its row in the queue its reply is not stored.
 */
export async function eraseDeliveries(
  transaction: Db,
  owner: OrganizationId,
  { references, now }: { references: readonly Reference[]; now: Date },
): Promise<void> {
  const ids = await listDeliveryIds(transaction, owner, references);
  await lockQueued(transaction, owner, ids);
  await eraseContent(transaction, owner, { references, now });
  await logInterrupted(transaction, owner, ids);
  await sql`delete from ${table("delivery_queue")} where organization_id = ${owner} and delivery_id = any(${ids}::uuid[])`.execute(
    transaction,
  );
  await eraseFromNotices(transaction, owner, references);
}

/** Within a text, so without the anchors. */
const REFERENCE_FORM = REFERENCE_PATTERN.slice(1, -1);

/** A notice names one booking at most. */
async function eraseFromNotices(
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

/**
 * Deletes the events of these bookings with their deliveries and attempts, in the caller's transaction, which has locked the
 * bookings. Returns how many deliveries there were. The reply to a request in flight is not stored.
 */
export async function deleteDeliveries(
  transaction: Db,
  owner: OrganizationId,
  references: readonly Reference[],
): Promise<number> {
  const ids = await listDeliveryIds(transaction, owner, references);
  await lockQueued(transaction, owner, ids);
  await sql`delete from ${table("delivery_queue")} where organization_id = ${owner} and delivery_id = any(${ids}::uuid[])`.execute(
    transaction,
  );
  await sql`
    delete from ${table("webhook_events")}
    where organization_id = ${owner} and reference = any(${references as Reference[]}::text[])`.execute(transaction);
  return ids.length;
}

/** Waits for claims and reports of these rows. */
async function lockQueued(transaction: Db, owner: OrganizationId, ids: readonly DeliveryId[]): Promise<void> {
  await sql`
    select from ${table("delivery_queue")} where organization_id = ${owner} and delivery_id = any(${ids as DeliveryId[]}::uuid[])
    order by delivery_id for update`.execute(transaction);
}

/** The worker can no longer report the requests in flight. */
async function logInterrupted(transaction: Db, owner: OrganizationId, ids: readonly DeliveryId[]): Promise<void> {
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

async function listDeliveryIds(
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

async function eraseContent(
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

type ErasedBooking = { readonly reference: Reference; readonly widgetId: WidgetId; readonly isTest: boolean };

/**
 * Writes `booking.erased` for every booking if the plan includes the read API, otherwise for those that an endpoint wants to know
 * about, in the transaction that deletes the bookings. Call it after `eraseDeliveries`, which removes the earlier events of these
 * bookings.
 */
export async function fanOutErased(
  { random }: { random: Random },
  transaction: Db,
  {
    owner,
    bookings,
    reason,
    now,
  }: { owner: OrganizationId; bookings: readonly ErasedBooking[]; reason: DeletionReason; now: Date },
): Promise<void> {
  const organization = await findOrganization(transaction, owner);
  if (!organization || bookings.length === 0) return;
  const endpoints = await listListeners(transaction, owner, reason);
  const names = new Map((await listWidgets(transaction, owner)).map(({ id, name }) => [id, name]));
  const written = bookings.flatMap(({ reference, widgetId, isTest }) => {
    const wanted = endpoints.filter(({ widget_ids }) => widget_ids === null || widget_ids.includes(widgetId));
    if (!isEventWanted(organization.plan, wanted)) return [];
    const id = randomId<WebhookEventId>(random, WEBHOOK_EVENT_ID);
    const event: BookingErasedEvent = {
      id,
      type: "booking.erased",
      created: now.toISOString(),
      apiVersion: WEBHOOK_API_VERSION,
      data: { booking: { reference }, widget: { id: widgetId, name: names.get(widgetId) ?? "" }, reason },
    };
    const body = Buffer.from(JSON.stringify(event));
    const deliveries = wanted.map((endpoint) => ({
      id: randomUuid(random) as DeliveryId,
      eventId: id,
      endpointId: endpoint.id,
      card: null,
      isEnabled: endpoint.status === "enabled",
    }));
    return [{ event: { id, type: event.type, reference, widgetId, body, isTestBooking: isTest }, deliveries }];
  });
  if (written.length === 0) return;
  await insertEvents(transaction, owner, {
    events: written.map(({ event }) => event),
    deliveries: written.flatMap(({ deliveries }) => deliveries),
    now,
  });
}

type Listener = { id: EndpointId; status: "enabled" | "disabled"; widget_ids: WidgetId[] | null };

async function listListeners(db: Db, owner: OrganizationId, reason: DeletionReason): Promise<Listener[]> {
  const { rows } = await sql<Listener>`
    select id, status, widget_ids from ${table("endpoints")}
    where organization_id = ${owner} and removed_at is null and 'booking.erased' = any(event_types)
      and (reports_expiry or ${reason} <> 'expired')
    order by id`.execute(db);
  return rows;
}
