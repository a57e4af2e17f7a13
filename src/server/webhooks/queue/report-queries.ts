import { sql } from "kysely";
import type { AttemptErrorCode, AttemptResult, DeliveryState } from "#contract/delivery.ts";
import type { DeliveryId, EndpointId, OrganizationId } from "#contract/ids.ts";
import type { Db } from "../../db/pool.ts";

/** How an attempt ended, and what follows from it. */
export type AttemptReport = {
  deliveryId: DeliveryId;
  leaseToken: string;
  /** Where it was sent. What that receiver did says nothing about the endpoint once it has another URL. */
  url: string;
  number: number;
  finishedAt: Date;
  result: Exclude<AttemptResult, "in_flight">;
  durationMs: number | null;
  status: number | null;
  errorCode: AttemptErrorCode | null;
  reply: string | null;
  replyIsTruncated: boolean;
  /** Null: the attempt changes nothing about the delivery (a manual one that failed). */
  state: DeliveryState | null;
  usesRetry: boolean;
  nextAttemptAt: Date | null;
  /** Nothing is sent to the endpoint before then. */
  pauseUntil: Date | null;
  /** Whether it says something about the endpoint's health. */
  countsForHealth: boolean;
  /** Whether the delivery ended with a final no of the receiver. Null: it has not ended, or is a test or sent again by hand. */
  isRefused: boolean | null;
  /** The receiver will never come back. */
  isGone: boolean;
};

/** Of an endpoint in use that is not well. */
export type EndpointHealth = {
  endpoint_id: EndpointId;
  organization_id: OrganizationId;
  failing_since: Date | null;
  failed_attempts: number;
  exhausted_deliveries: number;
  refused_deliveries: number;
  last_status: number | null;
  /** A receiver answered that it is gone for good: the endpoint has just been switched off. */
  is_gone: boolean;
};

type Row = EndpointHealth & { was_in_use: boolean };

/**
 * Writes how attempts ended, of any number of organizations, all in one statement: log, delivery, queue and the endpoint's
 * health. A report carries the token of its lease and is dropped when that is no longer the current one, so a worker that was
 * thought dead cannot undo what came after. Places in the queue and endpoints are locked in the order of their ids, for two
 * writers never to wait for each other. Returns the health of endpoints that were in use and are not well.
 */
export async function finishAttempts(db: Db, reports: readonly AttemptReport[]): Promise<EndpointHealth[]> {
  const column = <K extends keyof AttemptReport>(name: K) => reports.map((report) => report[name]);
  const { rows } = await sql<Row>`-- prepared: finish_attempts
    with owned as materialized (
      select queue.organization_id, queue.endpoint_id, report.*
      from unnest(
        ${column("deliveryId")}::uuid[], ${column("leaseToken")}::uuid[], ${column("url")}::text[], ${column("number")}::integer[],
        ${column("finishedAt")}::timestamptz[], ${column("result")}::text[], ${column("durationMs")}::integer[],
        ${column("status")}::integer[], ${column("errorCode")}::text[], ${column("reply")}::text[],
        ${column("replyIsTruncated")}::boolean[], ${column("state")}::text[], ${column("usesRetry")}::boolean[],
        ${column("nextAttemptAt")}::timestamptz[], ${column("pauseUntil")}::timestamptz[],
        ${column("countsForHealth")}::boolean[], ${column("isRefused")}::boolean[], ${column("isGone")}::boolean[]
      ) as report (delivery_id, lease_token, url, number, finished_at, result, duration_ms, status, error_code, reply,
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
        completed_at = case when owned.state is null then delivery.completed_at
          when owned.next_attempt_at is null then owned.finished_at end
      from owned where delivery.organization_id = owned.organization_id and delivery.id = owned.delivery_id
    ), heard as (
      select endpoint_id, url, max(finished_at) as at, max(pause_until) as pause_until,
        max(finished_at) filter (where result = 'delivered' and counts_for_health) as success_at,
        min(finished_at) filter (where result <> 'delivered' and counts_for_health) as failure_at,
        count(*) filter (where result <> 'delivered' and counts_for_health) as failures,
        count(*) filter (where state = 'failed' and counts_for_health) as exhausted,
        count(*) filter (where is_refused) as refused,
        coalesce(bool_or(not is_refused), false) as ends_row,
        coalesce(bool_or(is_gone and counts_for_health), false) as is_gone,
        (array_agg(status order by finished_at desc))[1] as last_status
      from owned group by endpoint_id, url
    ), locked as (
      select heard.* from heard join endpoints on endpoints.id = heard.endpoint_id and endpoints.url = heard.url
      order by heard.endpoint_id for no key update of endpoints
    )
    update endpoints set last_attempt_at = locked.at, last_status = locked.last_status,
      last_success_at = coalesce(locked.success_at, last_success_at),
      paused_until = greatest(paused_until, locked.pause_until),
      failing_since = case when locked.success_at is null then coalesce(failing_since, locked.failure_at) end,
      failed_attempts = case when locked.success_at is null then failed_attempts + locked.failures else 0 end,
      exhausted_deliveries = case when locked.success_at is null then exhausted_deliveries + locked.exhausted else 0 end,
      refused_deliveries = case when locked.success_at is null and not locked.ends_row
        then refused_deliveries + locked.refused else 0 end,
      status = case when locked.is_gone then 'disabled' else status end,
      disabled_reason = case when locked.is_gone and status = 'enabled' then 'gone' else disabled_reason end,
      disabled_at = case when locked.is_gone and status = 'enabled' then locked.at else disabled_at end
    from locked where endpoints.id = locked.endpoint_id
    returning endpoints.id as endpoint_id, endpoints.organization_id, endpoints.failing_since, endpoints.failed_attempts,
      endpoints.exhausted_deliveries, endpoints.refused_deliveries, endpoints.last_status, locked.is_gone,
      old.status = 'enabled' and old.removed_at is null as was_in_use`.execute(db);
  return rows.filter((row) => row.was_in_use && (row.failing_since !== null || row.is_gone));
}
