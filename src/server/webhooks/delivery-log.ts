import { type Selectable, sql } from "kysely";
import type { AttemptResult, AttemptTrigger, DeliveryState } from "#contract/delivery.ts";
import type { DeliveryId, EndpointId, OrganizationId, Reference, WebhookEventId } from "#contract/ids.ts";
import type { WebhookEventType } from "#contract/webhook-event.ts";
import type { Db } from "../db/pool.ts";
import type { DeliveriesTable, DeliveryAttemptsTable } from "../db/tables.ts";

// The delivery log as its readers see it, newest first. A page ends at a time and an id, and the next begins below them, so
// what is written meanwhile shifts nothing.

export type LogCursor = { at: Date; id: string };

export type DeliveryLogFilter = {
  endpointId?: EndpointId;
  eventId?: WebhookEventId;
  reference?: Reference;
  deliveryId?: DeliveryId;
  state?: DeliveryState;
  /** Inclusive. */
  from?: Date;
  /** Exclusive. */
  to?: Date;
  cursor?: LogCursor;
  limit: number;
};

export type DeliveryLogEntry = Omit<Selectable<DeliveriesTable>, "card"> & {
  type: WebhookEventType;
  reference: Reference | null;
  is_erased: boolean;
  /** What is to come, or under way: an attempt by the schedule, or one that someone asked for. */
  pending: AttemptTrigger | null;
  is_in_flight: boolean;
  last_duration_ms: number | null;
};

export async function listDeliveries(
  db: Db,
  owner: OrganizationId,
  filter: DeliveryLogFilter,
): Promise<DeliveryLogEntry[]> {
  const { endpointId, eventId, reference, deliveryId, state, from, to, cursor } = filter;
  const { rows } = await sql<DeliveryLogEntry>`
    select delivery.organization_id, delivery.id, delivery.event_id, delivery.endpoint_id, delivery.state,
      delivery.cancel_reason, delivery.attempt_count, delivery.retries_used, delivery.next_attempt_at,
      delivery.last_status, delivery.last_error, delivery.created_at, delivery.completed_at, event.type, event.reference,
      event.body is null as is_erased, queue.trigger as pending, queue.lease_token is not null as is_in_flight,
      (
        select duration_ms from delivery_attempts attempt
        where attempt.organization_id = delivery.organization_id and attempt.delivery_id = delivery.id
        order by number desc limit 1
      ) as last_duration_ms
    from deliveries delivery
    join webhook_events event on event.organization_id = delivery.organization_id and event.id = delivery.event_id
    left join delivery_queue queue on queue.delivery_id = delivery.id
    where ${allOf([
      sql`delivery.organization_id = ${owner}`,
      endpointId && sql`delivery.endpoint_id = ${endpointId}`,
      eventId && sql`delivery.event_id = ${eventId}`,
      reference && sql`event.reference = ${reference}`,
      deliveryId && sql`delivery.id = ${deliveryId}`,
      state && sql`delivery.state = ${state}`,
      from && sql`delivery.created_at >= ${from}`,
      to && sql`delivery.created_at < ${to}`,
      cursor &&
        sql`(delivery.created_at < ${cursor.at}
        or (delivery.created_at = ${cursor.at} and delivery.id > ${cursor.id}::uuid))`,
    ])}
    order by delivery.created_at desc, delivery.id limit ${filter.limit}`.execute(db);
  return rows;
}

export type AttemptLogFilter = {
  endpointId?: EndpointId;
  deliveryId?: DeliveryId;
  result?: AttemptResult;
  /** 2 for 200 to 299, and so on. */
  statusClass?: number;
  from?: Date;
  to?: Date;
  cursor?: LogCursor & { number: number };
  limit: number;
};

export type AttemptLogEntry = Selectable<DeliveryAttemptsTable>;

export async function listAttempts(
  db: Db,
  owner: OrganizationId,
  filter: AttemptLogFilter,
): Promise<AttemptLogEntry[]> {
  const { endpointId, deliveryId, result, statusClass, from, to, cursor } = filter;
  const { rows } = await sql<AttemptLogEntry>`
    select organization_id, delivery_id, number, endpoint_id, trigger, started_at, result, duration_ms, status, error_code,
      reply, reply_is_truncated, next_attempt_at
    from delivery_attempts
    where ${allOf([
      sql`organization_id = ${owner}`,
      endpointId && sql`endpoint_id = ${endpointId}`,
      deliveryId && sql`delivery_id = ${deliveryId}`,
      result && sql`result = ${result}`,
      statusClass && sql`status / 100 = ${statusClass}::integer`,
      from && sql`started_at >= ${from}`,
      to && sql`started_at < ${to}`,
      cursor &&
        sql`(started_at < ${cursor.at} or (started_at = ${cursor.at}
        and (delivery_id, number) > (${cursor.id}::uuid, ${cursor.number}::integer)))`,
    ])}
    order by started_at desc, delivery_id, number limit ${filter.limit}`.execute(db);
  return rows;
}

/** The bytes that are sent; null when they were erased. */
export async function findDeliveryBody(db: Db, owner: OrganizationId, id: DeliveryId): Promise<Buffer | null> {
  const { rows } = await sql<{ body: Buffer | null }>`
    select coalesce(delivery.card, event.body) as body
    from deliveries delivery
    join webhook_events event on event.organization_id = delivery.organization_id and event.id = delivery.event_id
    where delivery.organization_id = ${owner} and delivery.id = ${id}`.execute(db);
  return rows[0]?.body ?? null;
}

function allOf(conditions: (ReturnType<typeof sql> | undefined | false | 0 | "")[]) {
  return sql.join(
    conditions.filter(
      (condition) => condition !== undefined && condition !== false && condition !== 0 && condition !== "",
    ),
    sql` and `,
  );
}
