import type { DeletionReason } from "#contract/bookings/booking-changes.ts";
import {
  type DeliveryId,
  type OrganizationId,
  type Reference,
  WEBHOOK_EVENT_ID,
  type WebhookEventId,
  type WidgetId,
} from "#contract/ids.ts";
import { type BookingErasedEvent, WEBHOOK_API_VERSION } from "#contract/webhooks/webhook-event.ts";
import type { Db } from "../../db/connections/pool.ts";
import { type Random, randomId, randomUuid } from "../../lib/secrets/random.ts";
import { findOrganization } from "../../organizations/organizations.ts";
import { listWidgets } from "../../widgets/widgets.ts";
import {
  deleteEvents,
  deleteQueued,
  eraseContent,
  eraseFromNotices,
  listDeliveryIds,
  listListeners,
  lockQueued,
  logInterrupted,
} from "./erase-queries.ts";
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
  await deleteQueued(transaction, owner, ids);
  await eraseFromNotices(transaction, owner, references);
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
  await deleteQueued(transaction, owner, ids);
  await deleteEvents(transaction, owner, references);
  return ids.length;
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
