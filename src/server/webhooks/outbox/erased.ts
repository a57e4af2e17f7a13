import { sql } from "kysely";
import type { DeletionReason } from "#contract/deletion.ts";
import {
  type DeliveryId,
  type EndpointId,
  type OrganizationId,
  type Reference,
  WEBHOOK_EVENT_ID,
  type WebhookEventId,
  type WidgetId,
} from "#contract/ids.ts";
import { type BookingErasedEvent, WEBHOOK_API_VERSION } from "#contract/webhook-event.ts";
import { table } from "../../db/home.ts";
import type { Db } from "../../db/pool.ts";
import { type Random, randomId, randomUuid } from "../../lib/secrets/random.ts";
import { findOrganization } from "../../organizations/organizations.ts";
import { listWidgets } from "../../widgets/widgets.ts";
import { isEventWanted } from "./outbox.ts";
import { insertEvents } from "./queries.ts";

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
