import { type RawBuilder, type Selectable, sql } from "kysely";
import { DAY_MS } from "#contract/durations.ts";
import type {
  DeliveryId,
  EndpointId,
  OrganizationId,
  RedeliveryId,
  Reference,
  WebhookEventId,
  WidgetId,
} from "#contract/ids.ts";
import {
  type AttemptErrorCode,
  type AttemptTrigger,
  DELIVERY_LOG_DAYS,
  type DeliveryState,
} from "#contract/webhooks/delivery.ts";
import type { WebhookEventType } from "#contract/webhooks/webhook-event.ts";
import type { Mode } from "#contract/widgets/widget.ts";
import type { Db } from "../../db/connections/pool.ts";
import { table } from "../../db/home.ts";
import { toEmailKey } from "../../db/statements/email-key.ts";
import { inSnapshot } from "../../db/statements/transactions.ts";
import type { DeliveriesTable, DeliveryAttemptsTable } from "../../db/tables/webhook-tables.ts";
import type { RowPosition } from "../../http/paging.ts";

// The delivery log, newest first. Pages continue after a time and an id, so new rows never shift a page.

export type DeliveryLogFilter = {
  /** Hides expired rows that are not deleted yet. */
  keptSince: Date;
  endpointId?: EndpointId;
  reference?: Reference;
  deliveryId?: DeliveryId;
  eventId?: WebhookEventId;
  /** Finds deliveries about this customer's stored bookings. */
  email?: string;
  widgetId?: WidgetId;
  state?: DeliveryState;
  /** HTTP status of the last attempt. */
  status?: number;
  /** The last attempt's error. */
  error?: AttemptErrorCode;
  redeliveryId?: RedeliveryId;
  /** Inclusive. */
  from?: Date;
  /** Exclusive. */
  to?: Date;
  cursor?: RowPosition;
  limit: number;
};

export type DeliveryLogEntry = Omit<Selectable<DeliveriesTable>, "card"> & {
  type: WebhookEventType;
  reference: Reference | null;
  widget_id: WidgetId | null;
  /** Null without a stored booking. */
  mode: Mode | null;
  is_test_booking: boolean;
  is_erased: boolean;
  /** The trigger of the attempt that waits or is under way. */
  pending: AttemptTrigger | null;
  is_in_flight: boolean;
  last_duration_ms: number | null;
};

/** A delivery that ends meanwhile is read as it was before: with its place in the queue, so that whoever shows it asks again. */
export async function listDeliveries(
  db: Db,
  owner: OrganizationId,
  filter: DeliveryLogFilter,
): Promise<DeliveryLogEntry[]> {
  return await inSnapshot(db, async (transaction) => {
    const rows = await selectDeliveries(transaction, owner, filter);
    const queued = await findQueued(
      transaction,
      owner,
      rows.map(({ id }) => id),
    );
    return rows.map((row) => ({ ...row, ...(queued.get(row.id) ?? NOT_QUEUED) }));
  });
}

type LogRow = Omit<DeliveryLogEntry, keyof Queued>;

async function selectDeliveries(transaction: Db, owner: OrganizationId, filter: DeliveryLogFilter): Promise<LogRow[]> {
  const { keptSince, endpointId, reference, deliveryId, eventId, email, widgetId, state, status, error } = filter;
  const { redeliveryId, from, to, cursor } = filter;
  const { rows } = await sql<LogRow>`
    select delivery.organization_id, delivery.id, delivery.event_id, delivery.endpoint_id, delivery.state,
      delivery.cancel_reason, delivery.attempt_count, delivery.retries_used, delivery.next_attempt_at,
      delivery.last_status, delivery.last_error, delivery.created_at, delivery.completed_at, delivery.redelivery_id,
      event.type, event.reference, event.widget_id, event.is_test_booking, event.body is null as is_erased,
      (
        select case when is_test then 'test' else 'live' end
        from bookings booking where booking.organization_id = ${owner} and booking.reference = event.reference
      ) as mode,
      (
        select duration_ms from delivery_attempts attempt
        where attempt.organization_id = ${owner} and attempt.delivery_id = delivery.id
        order by number desc limit 1
      ) as last_duration_ms
    from deliveries delivery
    join webhook_events event on event.organization_id = delivery.organization_id and event.id = delivery.event_id
    where ${allOf([
      sql`delivery.organization_id = ${owner}`,
      isInLog(owner, keptSince),
      endpointId && sql`delivery.endpoint_id = ${endpointId}`,
      reference && sql`event.reference = ${reference}`,
      deliveryId && sql`delivery.id = ${deliveryId}`,
      eventId && sql`delivery.event_id = ${eventId}`,
      email &&
        sql`event.reference in (
          select reference from bookings where organization_id = ${owner} and customer_email_key = ${toEmailKey(email)})`,
      widgetId && sql`event.widget_id = ${widgetId}`,
      state && sql`delivery.state = ${state}`,
      status && sql`delivery.last_status = ${status}`,
      error && sql`delivery.last_error = ${error}`,
      redeliveryId && sql`delivery.redelivery_id = ${redeliveryId}`,
      from && sql`delivery.created_at >= ${from}`,
      to && sql`delivery.created_at < ${to}`,
      cursor &&
        sql`(delivery.created_at < ${cursor.at}
        or (delivery.created_at = ${cursor.at} and delivery.id > ${cursor.id}::uuid))`,
    ])}
    order by delivery.created_at desc, delivery.id limit ${filter.limit}`.execute(transaction);
  return rows;
}

type Queued = Pick<DeliveryLogEntry, "pending" | "is_in_flight">;
const NOT_QUEUED: Queued = { pending: null, is_in_flight: false };

async function findQueued(
  db: Db,
  owner: OrganizationId,
  ids: readonly DeliveryId[],
): Promise<ReadonlyMap<DeliveryId, Queued>> {
  if (ids.length === 0) return new Map();
  const { rows } = await sql<Queued & { id: DeliveryId }>`
    select delivery_id as id, trigger as pending, lease_token is not null as is_in_flight
    from delivery_queue where organization_id = ${owner} and delivery_id = any(${ids as DeliveryId[]}::uuid[])`.execute(
    db,
  );
  return new Map(rows.map(({ id, ...queued }) => [id, queued]));
}

export type AttemptLogEntry = Selectable<DeliveryAttemptsTable>;

/** Newest first. */
export async function listAttempts(
  db: Db,
  owner: OrganizationId,
  of: { deliveryId: DeliveryId; keptSince: Date; limit: number },
): Promise<AttemptLogEntry[]> {
  const { rows } = await sql<AttemptLogEntry>`
    select organization_id, delivery_id, number, endpoint_id, trigger, started_at, result, duration_ms, status, error_code,
      reply, reply_is_truncated, detail, next_attempt_at
    from delivery_attempts
    where organization_id = ${owner} and delivery_id = ${of.deliveryId}
      and started_at >= ${of.keptSince}
    order by number desc limit ${of.limit}`.execute(db);
  return rows;
}

/** The bytes that are sent; null once erased. */
export async function findDeliveryBody(db: Db, owner: OrganizationId, id: DeliveryId): Promise<Buffer | null> {
  const { rows } = await sql<{ body: Buffer | null }>`
    select coalesce(delivery.card, event.body) as body
    from deliveries delivery
    join webhook_events event on event.organization_id = delivery.organization_id and event.id = delivery.event_id
    where delivery.organization_id = ${owner} and delivery.id = ${id}`.execute(db);
  return rows[0]?.body ?? null;
}

function allOf(conditions: (ReturnType<typeof sql> | undefined | "" | 0)[]) {
  return sql.join(
    conditions.filter((condition) => condition !== undefined && condition !== "" && condition !== 0),
    sql` and `,
  );
}

/** Start of the delivery log, the same for every plan. */
export function toLogKeptSince(now: Date): Date {
  return new Date(now.getTime() - DELIVERY_LOG_DAYS * DAY_MS);
}

/**
 * Whether the row `event` is still in the log with all its deliveries: until the period after its last attempt has passed
 * and none of them waits. Both reading and deleting use this condition.
 */
export function isInLog(owner: OrganizationId, keptSince: Date): RawBuilder<boolean> {
  return sql<boolean>`(event.created_at >= ${keptSince} or exists (
    select from ${table("deliveries", "of_event")}
    where of_event.organization_id = ${owner} and of_event.event_id = event.id
      and (of_event.state in ('queued', 'retrying') or exists (
        select from ${table("delivery_attempts", "attempt")}
        where attempt.organization_id = ${owner} and attempt.delivery_id = of_event.id
          and attempt.started_at >= ${keptSince}
      ) or of_event.id in (
        select delivery_id from ${table("delivery_queue")} where organization_id = ${owner} and trigger = 'manual'
      ))
  ))`;
}
