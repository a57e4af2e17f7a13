import { sql } from "kysely";
import type { AttemptResult, AttemptTrigger, DeliveryState } from "#contract/delivery.ts";
import type { EndpointKind } from "#contract/endpoint.ts";
import type { DeliveryId, EndpointId, OrganizationId } from "#contract/ids.ts";
import type { Plan } from "#contract/plans.ts";
import type { WebhookEventType } from "#contract/webhook-event.ts";
import type { Db } from "../db/pool.ts";

// The queue of deliveries. A worker claims rows (leases them), sends, and reports; whoever finds a lease that has run out
// reports it as interrupted. Reports carry the lease's token, so a worker that was thought dead cannot undo what came after.

/** Any number that no other advisory lock of ours uses. */
const CLAIM_LOCK = 7_236_002;

/** Lanes (endpoints with something waiting) that one claim looks at; the next claim goes on behind them. */
const LANES_PER_CLAIM = 500;

export type ClaimedDelivery = {
  delivery_id: DeliveryId;
  organization_id: OrganizationId;
  endpoint_id: EndpointId;
  lease_token: string;
  trigger: AttemptTrigger;
  number: number;
  retries_used: number;
  type: WebhookEventType;
  kind: EndpointKind;
  url: string;
  /** What is sent: the event's bytes, or the card made of it. */
  body: Buffer | null;
  secret: Buffer;
  previous_secret: Buffer | null;
  previous_secret_expires_at: Date | null;
};

export type Claim = {
  now: Date;
  leaseUntil: Date;
  leaseToken: string;
  /** At most this many. */
  limit: number;
  /** Most requests in flight to one endpoint, over all workers: when it is well, and when it is a chat or failing. */
  perEndpoint: number;
  perCarefulEndpoint: number;
  /** Failed attempts in a row that make an endpoint one to be careful with. */
  carefulAfter: number;
  perOrganization: number;
  /** Plans that include webhooks. */
  plans: readonly Plan[];
  /** Endpoint id after which to look for lanes. */
  after: string;
};

/**
 * Leases what is due, fairly: the first of every lane before the second of any, organizations taking turns, and never more
 * than its cap in flight to one endpoint. The work is bounded by the number of lanes, not by how many deliveries wait in
 * them. Claims wait for one another (the lock), so that caps hold over all workers. Each claimed delivery gets its attempt
 * row in the same transaction, before any request is made.
 */
export async function claimDeliveries(db: Db, claim: Claim): Promise<{ claimed: ClaimedDelivery[]; after: string }> {
  return await db.transaction().execute(async (transaction) => {
    await sql`select pg_advisory_xact_lock(${CLAIM_LOCK})`.execute(transaction);
    const lanes = await listLanes(transaction, claim.after);
    if (lanes.length === 0) return { claimed: [], after: "" };
    const { rows } = await sql<ClaimedDelivery>`-- prepared: claim_deliveries
      with in_flight as (
        select organization_id, endpoint_id, count(*) as requests
        from delivery_queue where lease_token is not null group by organization_id, endpoint_id
      ), lanes as (
        select endpoint.id as endpoint_id, endpoint.organization_id,
          case when endpoint.kind <> 'webhook' or endpoint.failed_attempts >= ${claim.carefulAfter}::integer
            then ${claim.perCarefulEndpoint}::integer else ${claim.perEndpoint}::integer end
            - coalesce((select sum(requests) from in_flight where endpoint_id = endpoint.id), 0) as free,
          ${claim.perOrganization}::integer - coalesce((select sum(requests) from in_flight
            where in_flight.organization_id = endpoint.organization_id), 0) as organization_free
        from endpoints endpoint
        join organizations on organizations.id = endpoint.organization_id
        where endpoint.id = any(${lanes}::text[]) and endpoint.status = 'enabled' and endpoint.removed_at is null
          and (endpoint.paused_until is null or endpoint.paused_until <= ${claim.now}::timestamptz)
          and organizations.plan = any(${claim.plans as Plan[]}::text[])
      ), candidates as (
        select lanes.organization_id, lanes.organization_free, waiting.delivery_id, waiting.due_at,
          row_number() over (partition by lanes.endpoint_id order by waiting.due_at) as place_in_lane
        from lanes cross join lateral (
          select delivery_id, due_at from delivery_queue
          where endpoint_id = lanes.endpoint_id and lease_token is null and due_at <= ${claim.now}::timestamptz
          order by due_at limit greatest(lanes.free, 0)
          for update skip locked
        ) waiting
      ), ranked as (
        select delivery_id, due_at, organization_free,
          row_number() over (partition by organization_id order by place_in_lane, due_at) as place_in_organization
        from candidates
      ), chosen as (
        select delivery_id from ranked where place_in_organization <= organization_free
        order by place_in_organization, due_at limit ${claim.limit}::integer
      ), leased as (
        update delivery_queue set lease_token = ${claim.leaseToken}::uuid, lease_until = ${claim.leaseUntil}::timestamptz
        from chosen where delivery_queue.delivery_id = chosen.delivery_id
        returning delivery_queue.delivery_id, organization_id, endpoint_id, trigger
      ), numbered as (
        update deliveries set attempt_count = attempt_count + 1
        from leased where deliveries.organization_id = leased.organization_id and deliveries.id = leased.delivery_id
        returning deliveries.organization_id, deliveries.id, deliveries.event_id, deliveries.endpoint_id, deliveries.card,
          deliveries.attempt_count, deliveries.retries_used, leased.trigger
      ), logged as (
        insert into delivery_attempts (organization_id, delivery_id, number, endpoint_id, trigger, started_at, result)
        select organization_id, id, attempt_count, endpoint_id, trigger, ${claim.now}, 'in_flight' from numbered
      )
      select numbered.id as delivery_id, numbered.organization_id, numbered.endpoint_id,
        ${claim.leaseToken} as lease_token, numbered.trigger, numbered.attempt_count as number, numbered.retries_used,
        event.type, endpoint.kind, endpoint.url, coalesce(numbered.card, event.body) as body, endpoint.secret,
        endpoint.previous_secret, endpoint.previous_secret_expires_at
      from numbered
      join webhook_events event on event.organization_id = numbered.organization_id and event.id = numbered.event_id
      join endpoints endpoint on endpoint.id = numbered.endpoint_id`.execute(transaction);
    return { claimed: rows, after: lanes.length < LANES_PER_CLAIM ? "" : (lanes.at(-1) ?? "") };
  });
}

/** The next endpoints with something waiting: one index probe each, however long their lanes are. */
async function listLanes(transaction: Db, after: string): Promise<string[]> {
  const { rows } = await sql<{ endpoint_id: string }>`-- prepared: list_lanes
    with recursive lanes as (
      (select endpoint_id from delivery_queue where lease_token is null and endpoint_id > ${after}::text
        order by endpoint_id limit 1)
      union all
      select (select queue.endpoint_id from delivery_queue queue
        where queue.lease_token is null and queue.endpoint_id > lanes.endpoint_id order by queue.endpoint_id limit 1)
      from lanes where lanes.endpoint_id is not null
    )
    select endpoint_id from lanes where endpoint_id is not null limit ${LANES_PER_CLAIM}::integer`.execute(transaction);
  return rows.map((row) => row.endpoint_id);
}

/** How an attempt ended, and what follows from it. */
export type AttemptReport = {
  deliveryId: DeliveryId;
  leaseToken: string;
  number: number;
  finishedAt: Date;
  result: Exclude<AttemptResult, "in_flight">;
  durationMs: number | null;
  status: number | null;
  errorCode: string | null;
  reply: string | null;
  replyIsTruncated: boolean;
  /** Null: the attempt changes nothing about the delivery (a manual one that failed). */
  state: DeliveryState | null;
  usesRetry: boolean;
  nextAttemptAt: Date | null;
  /** The receiver asked us to wait with everything until then. */
  pauseUntil: Date | null;
  /** Whether it says something about the endpoint's health. */
  countsForHealth: boolean;
  /** A final no of the receiver; `isGone`: it will never come back. */
  isRefused: boolean;
  isGone: boolean;
};

export type EndpointHealth = {
  endpoint_id: EndpointId;
  organization_id: OrganizationId;
  failing_since: Date | null;
  failed_attempts: number;
  exhausted_deliveries: number;
  refused_deliveries: number;
  last_status: number | null;
  /** One of the reported attempts was answered that it is gone for good. */
  is_gone: boolean;
};

/**
 * Writes how attempts ended, all in one statement: log, delivery, queue and the endpoint's health. A report whose lease is
 * no longer its own is dropped. Returns the health of endpoints that are not well.
 */
export async function finishAttempts(db: Db, reports: readonly AttemptReport[]): Promise<EndpointHealth[]> {
  const column = <K extends keyof AttemptReport>(name: K) => reports.map((report) => report[name]);
  const { rows } = await sql<EndpointHealth>`-- prepared: finish_attempts
    with owned as materialized (
      select queue.organization_id, queue.endpoint_id, report.*
      from unnest(
        ${column("deliveryId")}::uuid[], ${column("leaseToken")}::uuid[], ${column("number")}::integer[],
        ${column("finishedAt")}::timestamptz[], ${column("result")}::text[], ${column("durationMs")}::integer[],
        ${column("status")}::integer[], ${column("errorCode")}::text[], ${column("reply")}::text[],
        ${column("replyIsTruncated")}::boolean[], ${column("state")}::text[], ${column("usesRetry")}::boolean[],
        ${column("nextAttemptAt")}::timestamptz[], ${column("pauseUntil")}::timestamptz[],
        ${column("countsForHealth")}::boolean[], ${column("isRefused")}::boolean[], ${column("isGone")}::boolean[]
      ) as report (delivery_id, lease_token, number, finished_at, result, duration_ms, status, error_code, reply,
        reply_is_truncated, state, uses_retry, next_attempt_at, pause_until, counts_for_health, is_refused, is_gone)
      join delivery_queue queue using (delivery_id, lease_token)
      order by delivery_id for update of queue
    ), requeued as (
      update delivery_queue set due_at = owned.next_attempt_at, lease_token = null, lease_until = null
      from owned where delivery_queue.delivery_id = owned.delivery_id and owned.next_attempt_at is not null
    ), dequeued as (
      delete from delivery_queue using owned
      where delivery_queue.delivery_id = owned.delivery_id and owned.next_attempt_at is null
    ), logged as (
      update delivery_attempts attempt set result = owned.result, duration_ms = owned.duration_ms, status = owned.status,
        error_code = owned.error_code, reply = owned.reply, reply_is_truncated = owned.reply_is_truncated,
        next_attempt_at = owned.next_attempt_at
      from owned where attempt.organization_id = owned.organization_id and attempt.delivery_id = owned.delivery_id
        and attempt.number = owned.number
    ), moved as (
      update deliveries delivery set state = coalesce(owned.state, delivery.state),
        cancel_reason = case when owned.state is null then delivery.cancel_reason end,
        retries_used = delivery.retries_used + owned.uses_retry::integer, next_attempt_at = owned.next_attempt_at,
        last_status = owned.status, last_error = owned.error_code,
        completed_at = case when owned.next_attempt_at is null then owned.finished_at end
      from owned where delivery.organization_id = owned.organization_id and delivery.id = owned.delivery_id
    ), heard as (
      select organization_id, endpoint_id, max(finished_at) as at, max(pause_until) as pause_until,
        max(finished_at) filter (where result = 'delivered') as success_at,
        min(finished_at) filter (where result <> 'delivered' and counts_for_health) as failure_at,
        count(*) filter (where result <> 'delivered' and counts_for_health) as failures,
        count(*) filter (where state = 'failed' and counts_for_health) as exhausted,
        count(*) filter (where is_refused and counts_for_health) as refused,
        coalesce(bool_or(is_gone), false) as is_gone,
        (array_agg(status order by finished_at desc))[1] as last_status
      from owned group by organization_id, endpoint_id order by organization_id, endpoint_id
    )
    update endpoints set last_attempt_at = heard.at, last_status = heard.last_status,
      last_success_at = coalesce(heard.success_at, last_success_at),
      paused_until = greatest(paused_until, heard.pause_until),
      failing_since = case when heard.success_at is null then coalesce(failing_since, heard.failure_at) end,
      failed_attempts = case when heard.success_at is null then failed_attempts + heard.failures else 0 end,
      exhausted_deliveries = case when heard.success_at is null then exhausted_deliveries + heard.exhausted else 0 end,
      refused_deliveries = case when heard.success_at is null then refused_deliveries + heard.refused else 0 end
    from heard where endpoints.id = heard.endpoint_id
    returning endpoints.id as endpoint_id, endpoints.organization_id, endpoints.failing_since, endpoints.failed_attempts,
      endpoints.exhausted_deliveries, endpoints.refused_deliveries, endpoints.last_status, heard.is_gone`.execute(db);
  return rows.filter((row) => row.failing_since !== null || row.is_gone);
}

export type ExpiredLease = {
  delivery_id: DeliveryId;
  lease_token: string;
  trigger: AttemptTrigger;
  number: number;
  retries_used: number;
  type: WebhookEventType;
};

/** Leases whose holder is gone. Someone else may report them at the same time; the tokens sort that out. */
export async function listExpiredLeases(db: Db, about: { now: Date; limit: number }): Promise<ExpiredLease[]> {
  const { rows } = await sql<ExpiredLease>`
    select queue.delivery_id, queue.lease_token, queue.trigger, delivery.attempt_count as number, delivery.retries_used,
      event.type
    from delivery_queue queue
    join deliveries delivery on delivery.organization_id = queue.organization_id and delivery.id = queue.delivery_id
    join webhook_events event on event.organization_id = delivery.organization_id and event.id = delivery.event_id
    where queue.lease_token is not null and queue.lease_until < ${about.now}
    order by queue.lease_until limit ${about.limit}`.execute(db);
  return rows;
}

/**
 * Takes out of the queue what must not be sent any more: its endpoint was switched off or removed, or the plan no longer
 * includes webhooks. What is in flight is left to its report and comes out with the next call.
 */
export async function cancelForbidden(
  db: Db,
  about: { now: Date; plans: readonly Plan[]; limit: number; owner?: OrganizationId },
): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    with forbidden as (
      select queue.delivery_id, queue.organization_id,
        case when endpoint.removed_at is not null then 'endpoint_removed'
          when endpoint.status = 'disabled' then 'endpoint_disabled' else 'plan' end as reason
      from delivery_queue queue
      join endpoints endpoint on endpoint.id = queue.endpoint_id
      join organizations on organizations.id = queue.organization_id
      where queue.lease_token is null and queue.organization_id = coalesce(${about.owner ?? null}, queue.organization_id)
        and (endpoint.removed_at is not null or endpoint.status = 'disabled'
          or organizations.plan <> all(${about.plans as Plan[]}::text[]))
      order by queue.delivery_id limit ${about.limit}
      for update of queue skip locked
    ), gone as (
      delete from delivery_queue using forbidden where delivery_queue.delivery_id = forbidden.delivery_id
    ), canceled as (
      update deliveries set state = 'canceled', cancel_reason = forbidden.reason, next_attempt_at = null,
        completed_at = ${about.now}
      from forbidden where deliveries.organization_id = forbidden.organization_id and deliveries.id = forbidden.delivery_id
        and state in ('queued', 'retrying')
    )
    select count(*) as count from forbidden`.execute(db);
  return rows[0]?.count ?? 0;
}

export async function measureQueue(
  db: Db,
  now: Date,
): Promise<{ waiting: number; in_flight: number; overdue_seconds: number }> {
  const { rows } = await sql<{ waiting: number; in_flight: number; overdue_seconds: number }>`
    select count(*) filter (where lease_token is null) as waiting,
      count(*) filter (where lease_token is not null) as in_flight,
      coalesce(greatest(0, extract(epoch from ${now}::timestamptz - min(due_at) filter (where lease_token is null))), 0)::float8
        as overdue_seconds
    from delivery_queue`.execute(db);
  return rows[0] ?? { waiting: 0, in_flight: 0, overdue_seconds: 0 };
}
