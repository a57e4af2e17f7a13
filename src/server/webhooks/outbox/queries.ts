import { type RawBuilder, sql } from "kysely";
import type {
  DeliveryId,
  EndpointId,
  OrganizationId,
  RedeliveryId,
  Reference,
  WebhookEventId,
  WidgetId,
} from "#contract/ids.ts";
import type { Plan } from "#contract/plans.ts";
import type { AttemptTrigger } from "#contract/webhooks/delivery.ts";
import type { ChosenEventType, EndpointFilters, EndpointKind, EndpointStatus } from "#contract/webhooks/endpoint.ts";
import type { WebhookEventType } from "#contract/webhooks/webhook-event.ts";
import type { Db } from "../../db/connections/pool.ts";
import { table, writeAtHome } from "../../db/home.ts";
import { assert } from "../../lib/assert.ts";

/** Workers listen on this channel. */
export const DELIVERIES_CHANNEL = "bookflow_deliveries";

/** What a booking's event says beyond the booking itself, and where it goes. */
export type BookingEventContext = {
  organization_id: OrganizationId;
  organization_name: string;
  plan: Plan;
  widget_id: WidgetId;
  widget_name: string;
  business_name: string;
  /** Includes disabled endpoints: events they miss are recorded as `canceled` and can be redelivered. */
  endpoints: readonly ({ id: EndpointId; kind: EndpointKind; status: EndpointStatus } & EndpointFilters)[];
};

export async function findBookingEventContext(
  db: Db,
  owner: OrganizationId,
  { type, widgetId }: { type: ChosenEventType; widgetId: WidgetId },
): Promise<BookingEventContext> {
  const { rows } = await sql<BookingEventContext>`-- prepared: booking_event_context
    select organizations.id as organization_id, organizations.name as organization_name, organizations.plan,
      widgets.id as widget_id, widgets.name as widget_name, widgets.business_name,
      (
        select coalesce(json_agg(json_build_object('id', id, 'kind', kind, 'status', status, 'services', services,
          'channels', channels, 'sources', sources, 'campaigns', campaigns) order by id), '[]')
        from ${table("endpoints")}
        where organization_id = ${owner} and removed_at is null and ${type} = any(event_types)
          and (widget_ids is null or ${widgetId} = any(widget_ids))
      ) as endpoints
    from ${table("widgets")} join ${table("organizations")} on organizations.id = widgets.organization_id
    where widgets.organization_id = ${owner} and widgets.id = ${widgetId}`.execute(db);
  const [context] = rows;
  assert(context, "a booking is stored for a widget of its organization");
  return context;
}

type NewEvent = {
  id: WebhookEventId;
  type: WebhookEventType;
  reference: Reference | null;
  widgetId: WidgetId | null;
  body: Buffer;
  isTestBooking: boolean;
};

type NewDelivery = {
  id: DeliveryId;
  eventId: WebhookEventId;
  endpointId: EndpointId;
  card: Buffer | null;
  isEnabled: boolean;
};

/** Inserts events of one type with their deliveries, and queues the deliveries of enabled endpoints. */
export async function insertEvents(
  transaction: Db,
  owner: OrganizationId,
  { events, deliveries, now }: { events: readonly NewEvent[]; deliveries: readonly NewDelivery[]; now: Date },
): Promise<void> {
  const ofEvents = <K extends keyof NewEvent>(name: K) => events.map((event) => event[name]);
  const ofDeliveries = <K extends keyof NewDelivery>(name: K) => deliveries.map((delivery) => delivery[name]);
  const insertedEvents = sql`
      insert into ${table("webhook_events")} (organization_id, id, type, reference, widget_id, body, is_test_booking, created_at)
      select ${owner}, id, type, reference, widget_id, body, is_test_booking, ${now}::timestamptz
      from unnest(${ofEvents("id")}::text[], ${ofEvents("type")}::text[], ${ofEvents("reference")}::text[],
        ${ofEvents("widgetId")}::text[], ${ofEvents("body")}::bytea[], ${ofEvents("isTestBooking")}::boolean[])
        as event (id, type, reference, widget_id, body, is_test_booking)`;
  const insertedDeliveries = sql`
    insert into ${table("deliveries")} (organization_id, id, event_id, endpoint_id, state, cancel_reason, card, attempt_count,
      retries_used, next_attempt_at, created_at, completed_at)
    select ${owner}, id, event_id, endpoint_id, case when is_enabled then 'queued' else 'canceled' end,
      case when not is_enabled then 'endpoint_disabled' end, card, 0, 0, case when is_enabled then ${now}::timestamptz end,
      ${now}::timestamptz, case when not is_enabled then ${now}::timestamptz end
    from unnest(${ofDeliveries("id")}::uuid[], ${ofDeliveries("eventId")}::text[], ${ofDeliveries("endpointId")}::text[],
      ${ofDeliveries("card")}::bytea[], ${ofDeliveries("isEnabled")}::boolean[])
      as delivery (id, event_id, endpoint_id, card, is_enabled)`;
  const enabled = deliveries.filter(({ isEnabled }) => isEnabled);
  const isTest = events.some(({ type }) => type === "endpoint.test");
  const queued = { deliveries: enabled, trigger: "automatic", isTest, dueAt: now } as const;
  await sql`-- prepared: insert_events
    with event as (${insertedEvents}), delivery as (${insertedDeliveries})${insertIntoQueue(owner, queued)}`.execute(
    transaction,
  );
}

type QueuedDeliveries = {
  deliveries: readonly { id: DeliveryId; endpointId: EndpointId }[];
  trigger: AttemptTrigger;
  isTest: boolean;
  dueAt: Date;
  redeliveryId?: RedeliveryId;
};

function insertIntoQueue(owner: OrganizationId, queued: QueuedDeliveries): RawBuilder<unknown> {
  const ids = queued.deliveries.map(({ id }) => id);
  const endpointIds = queued.deliveries.map(({ endpointId }) => endpointId);
  return sql`
    insert into ${table("delivery_queue")} (delivery_id, organization_id, endpoint_id, trigger, is_test, due_at, redelivery_id)
    select id, ${owner}, endpoint_id, ${queued.trigger}, ${queued.isTest}::boolean, ${queued.dueAt}::timestamptz,
      ${queued.redeliveryId ?? null}::text
    from unnest(${ids}::uuid[], ${endpointIds}::text[]) as queued (id, endpoint_id)`;
}

/** Skips deliveries that are already queued; returns those that were not. */
export async function queueDeliveries(
  transaction: Db,
  owner: OrganizationId,
  queued: QueuedDeliveries,
): Promise<DeliveryId[]> {
  if (queued.deliveries.length === 0) return [];
  const { rows } = await sql<{ delivery_id: DeliveryId }>`-- prepared: queue_deliveries
    ${insertIntoQueue(owner, queued)}
    on conflict do nothing
    returning delivery_id`.execute(transaction);
  return rows.map((row) => row.delivery_id);
}

/**
 * On the organization's server. Not for use in a transaction that stores a booking: transactions that notify commit one after another.
 * PostgreSQL logs a notification like a change, but after a crash nobody needs it, so its commit does not wait for the disk.
 */
export async function notifyWorkers(db: Db, owner: OrganizationId): Promise<void> {
  await writeAtHome(db, owner, (home) =>
    sql`-- prepared: notify
      select set_config('synchronous_commit', 'off', true), pg_notify(${DELIVERIES_CHANNEL}, '')`.execute(home),
  );
}
