import { sql } from "kysely";
import type {
  AttemptDetail,
  AttemptErrorCode,
  AttemptResult,
  AttemptTrigger,
  DeliveryState,
} from "#contract/delivery.ts";
import type { EndpointKind, EndpointStatus } from "#contract/endpoint.ts";
import type { DeliveryId, EndpointId, OrganizationId, Reference } from "#contract/ids.ts";
import { type BatchColumn, toBatchRows } from "../../db/batch-rows.ts";
import { engineOf, type StatementGroup } from "../../db/engine.ts";
import type { Db } from "../../db/pool.ts";
import { toLane, writeLane } from "./lanes.ts";

// Writes how attempts ended, in one transaction of three steps: give back the leases (the queue), record the attempts with
// their deliveries and endpoints (per organization), and update lanes whose endpoint changed. What must stay true:
//
// - A report counts only while its lease's token is the current one. A worker that was thought dead changes nothing.
// - Rows are locked in the order of claim.ts, and within a table by id, so two writers never wait for each other.

/** How an attempt ended, and what follows from it. */
export type AttemptReport = {
  readonly organizationId: OrganizationId;
  readonly endpointId: EndpointId;
  readonly deliveryId: DeliveryId;
  readonly leaseToken: string;
  /** The endpoint's `receiver` when the request was made. */
  readonly receiver: number;
  /** Of the booking; not written, but named in notices. */
  readonly reference: Reference | null;
  readonly trigger: AttemptTrigger;
  readonly startedAt: Date;
  readonly finishedAt: Date;
  readonly result: AttemptResult;
  readonly durationMs: number | null;
  readonly status: number | null;
  readonly errorCode: AttemptErrorCode | null;
  readonly reply: string | null;
  readonly replyIsTruncated: boolean;
  readonly detail: AttemptDetail | null;
  /** Null leaves the delivery's state as it is (a manual attempt that failed). */
  readonly state: DeliveryState | null;
  readonly usesRetry: boolean;
  readonly nextAttemptAt: Date | null;
  /** Nothing is sent to the endpoint before then. */
  readonly pauseUntil: Date | null;
  readonly countsForHealth: boolean;
  /** Whether a chat refused the delivery for good. Null if this attempt does not count toward the refusal streak. */
  readonly isRefused: boolean | null;
  /** The receiver says that it is permanently gone. */
  readonly isGone: boolean;
};

/** Health of an endpoint in use that is failing or gone. */
export type EndpointHealth = {
  endpoint_id: EndpointId;
  organization_id: OrganizationId;
  failing_since: Date | null;
  failed_attempts: number;
  exhausted_deliveries: number;
  refused_deliveries: number;
  kind: EndpointKind;
  /** The delivery given up in these reports, or else the last failed attempt; null if none failed. */
  last_failure: Pick<AttemptReport, "reference" | "status" | "errorCode"> | null;
  /** The endpoint was turned off with this report, because its receiver is permanently gone. */
  is_gone: boolean;
};

type Reports = StatementGroup<AttemptReport>;

/** Returns the health of endpoints in use that are failing or gone. */
export async function writeReports(db: Db, group: Reports): Promise<EndpointHealth[]> {
  return await db.transaction().execute(async (transaction) => {
    const released = await releaseLeases(transaction, group.rows);
    const accepted = group.rows.filter(({ deliveryId }) => released.has(deliveryId));
    const endpoints = accepted.length === 0 ? [] : await recordAttempts(transaction, { ...group, rows: accepted });
    for (const endpoint of endpoints) if (endpoint.lane_changed) await writeLane(transaction, endpoint);
    return endpoints
      .filter((endpoint) => endpoint.was_in_use && (endpoint.failing_since !== null || endpoint.is_gone))
      .map((endpoint) => ({
        ...endpoint,
        endpoint_id: endpoint.id,
        last_failure: findLastFailure(accepted.filter(({ endpointId }) => endpointId === endpoint.id)),
      }));
  });
}

function findLastFailure(reports: readonly AttemptReport[]): AttemptReport | null {
  const failures = reports.filter(({ result, countsForHealth }) => result !== "delivered" && countsForHealth);
  return failures.findLast(({ state }) => state === "failed") ?? failures.at(-1) ?? null;
}

/** Takes finished deliveries out of the queue and schedules retries. Returns the deliveries whose token was current. */
async function releaseLeases(transaction: Db, reports: readonly AttemptReport[]): Promise<ReadonlySet<DeliveryId>> {
  if (engineOf(transaction) === "citus") return await releaseInSteps(transaction, reports);
  const { rows } = await sql<{ delivery_id: DeliveryId }>`-- prepared: release_leases
    with held as materialized (
      select queue.delivery_id, report.next_attempt_at
      from ${toBatchRows("report", RELEASE_COLUMNS, reports)}
      join delivery_queue queue using (delivery_id, lease_token)
      order by queue.delivery_id for update of queue
    ), rescheduled as (
      update delivery_queue queue
      set due_at = held.next_attempt_at, lease_token = null, leased_at = null, lease_until = null, leased_by = null,
        trigger = 'automatic', resume_at = null
      from held where queue.delivery_id = held.delivery_id and held.next_attempt_at is not null
    ), finished as (
      delete from delivery_queue queue using held
      where queue.delivery_id = held.delivery_id and held.next_attempt_at is null
    )
    select delivery_id from held`.execute(transaction);
  return new Set(rows.map((row) => row.delivery_id));
}

/** Citus can't run the three parts as one statement. */
async function releaseInSteps(transaction: Db, reports: readonly AttemptReport[]): Promise<ReadonlySet<DeliveryId>> {
  const { rows } = await sql<{ delivery_id: DeliveryId }>`
    select queue.delivery_id
    from ${toBatchRows("report", RELEASE_COLUMNS, reports)} join delivery_queue queue using (delivery_id, lease_token)
    order by queue.delivery_id for update of queue`.execute(transaction);
  const held = new Set(rows.map((row) => row.delivery_id));
  const retried = reports.filter(({ deliveryId, nextAttemptAt }) => held.has(deliveryId) && nextAttemptAt !== null);
  const finished = [...held.difference(new Set(retried.map(({ deliveryId }) => deliveryId)))];
  if (retried.length > 0)
    await sql`
      update delivery_queue queue
      set due_at = report.next_attempt_at, lease_token = null, leased_at = null, lease_until = null, leased_by = null
      from ${toBatchRows("report", RELEASE_COLUMNS, retried)} where queue.delivery_id = report.delivery_id`.execute(
      transaction,
    );
  if (finished.length > 0)
    await sql`delete from delivery_queue where delivery_id = any(${finished}::uuid[])`.execute(transaction);
  return held;
}

/**
 * At thousands of deliveries a second, writing every success to its endpoint would cost as much as the delivery itself.
 * Another success of a healthy endpoint within this time changes nothing.
 */
const isNews = sql`not (heard.failures = 0 and heard.pause_until is null and endpoint.failing_since is null
        and endpoint.refused_deliveries = 0 and heard.last_status is not distinct from endpoint.last_status
        and heard.success_at is not null and endpoint.last_success_at between heard.at - interval '1 second' and heard.at)`;

/** An endpoint after its reports were counted; `lane_changed` when claiming must know. */
type EndpointAfter = Omit<EndpointHealth, "endpoint_id" | "last_failure"> & {
  id: EndpointId;
  status: EndpointStatus;
  paused_until: Date | null;
  removed_at: Date | null;
  requests_per_minute: number | null;
  was_in_use: boolean;
  lane_changed: boolean;
};
type EndpointBefore = { old_status: EndpointStatus; old_failed_attempts: number; old_paused_until: Date | null };

/**
 * Adds each attempt to the log, moves its delivery on, and counts it for its endpoint's health. Several attempts of one
 * endpoint are added up first (`heard`), and count only for the receiver that they were sent to.
 */
async function recordAttempts(transaction: Db, { rows: reports, owns }: Reports): Promise<EndpointAfter[]> {
  const { rows } = await sql<EndpointAfter & EndpointBefore>`-- prepared: record_attempts
    with report as materialized (
      select ${sql.join(REPORT_COLUMNS.map(({ name }) => sql.ref(name)))}
      from ${toBatchRows("report", REPORT_COLUMNS, reports)}
    ), moved as (
      update deliveries delivery set state = coalesce(report.state, delivery.state),
        cancel_reason = case when report.state is null then delivery.cancel_reason end,
        attempt_count = delivery.attempt_count + 1, retries_used = delivery.retries_used + report.uses_retry::integer,
        next_attempt_at = report.next_attempt_at, last_status = report.status, last_error = report.error_code,
        completed_at = case when report.state is null then delivery.completed_at
          when report.next_attempt_at is null then report.finished_at end
      from report where ${owns("delivery.organization_id")} and delivery.organization_id = report.organization_id
        and delivery.id = report.delivery_id
      returning delivery.id, delivery.attempt_count
    ), logged as (
      insert into delivery_attempts (organization_id, delivery_id, number, endpoint_id, trigger, started_at, result,
        duration_ms, status, error_code, reply, reply_is_truncated, detail, next_attempt_at)
      select report.organization_id, report.delivery_id, moved.attempt_count, report.endpoint_id, report.trigger,
        report.started_at, report.result, report.duration_ms, report.status, report.error_code, report.reply,
        report.reply_is_truncated, report.detail, report.next_attempt_at
      from report join moved on moved.id = report.delivery_id
    ), heard as (
      select organization_id, endpoint_id, receiver, max(finished_at) as at, max(pause_until) as pause_until,
        max(finished_at) filter (where result = 'delivered' and counts_for_health) as success_at,
        min(finished_at) filter (where result <> 'delivered' and counts_for_health) as failure_at,
        count(*) filter (where result <> 'delivered' and counts_for_health) as failures,
        count(*) filter (where state = 'failed' and counts_for_health) as exhausted,
        count(*) filter (where is_refused) as refused,
        coalesce(bool_or(not is_refused), false) as ends_streak,
        coalesce(bool_or(is_gone and counts_for_health), false) as is_gone,
        (array_agg(status order by finished_at desc))[1] as last_status
      from report group by organization_id, endpoint_id, receiver
    ), locked as (
      select heard.* from heard
      join endpoints endpoint on endpoint.organization_id = heard.organization_id and endpoint.id = heard.endpoint_id
        and endpoint.receiver = heard.receiver
      where ${owns("endpoint.organization_id")} and ${isNews}
      order by heard.endpoint_id for no key update of endpoint
    )
    update endpoints endpoint set last_attempt_at = locked.at, last_status = locked.last_status,
      last_success_at = coalesce(locked.success_at, last_success_at),
      paused_until = greatest(paused_until, locked.pause_until),
      failing_since = case when locked.success_at is null then coalesce(failing_since, locked.failure_at) end,
      failed_attempts = case when locked.success_at is null then failed_attempts + locked.failures else 0 end,
      exhausted_deliveries = case when locked.success_at is null then exhausted_deliveries + locked.exhausted else 0 end,
      refused_deliveries = case when locked.success_at is null and not locked.ends_streak
        then refused_deliveries + locked.refused else 0 end,
      status = case when locked.is_gone then 'disabled' else status end,
      disabled_reason = case when locked.is_gone and status = 'enabled' then 'gone' else disabled_reason end,
      disabled_at = case when locked.is_gone and status = 'enabled' then locked.at else disabled_at end
    from locked where ${owns("endpoint.organization_id")} and endpoint.organization_id = locked.organization_id and endpoint.id = locked.endpoint_id
    returning endpoint.id, endpoint.organization_id, endpoint.kind, endpoint.status, endpoint.paused_until,
      endpoint.removed_at, endpoint.failing_since, endpoint.failed_attempts, endpoint.exhausted_deliveries,
      endpoint.refused_deliveries, endpoint.requests_per_minute, locked.is_gone, old.status as old_status,
      old.failed_attempts as old_failed_attempts, old.paused_until as old_paused_until,
      old.status = 'enabled' and old.removed_at is null as was_in_use`.execute(transaction);
  return rows.map((row) => ({ ...row, lane_changed: hasLaneChanged(row) }));
}

const DELIVERY_ID = { name: "delivery_id", type: "uuid", read: (report: AttemptReport) => report.deliveryId } as const;
const NEXT_ATTEMPT_AT = {
  name: "next_attempt_at",
  type: "timestamptz",
  read: (report: AttemptReport) => report.nextAttemptAt,
} as const;

const RELEASE_COLUMNS: readonly BatchColumn<AttemptReport>[] = [
  DELIVERY_ID,
  { name: "lease_token", type: "uuid", read: (report) => report.leaseToken },
  NEXT_ATTEMPT_AT,
];

const REPORT_COLUMNS: readonly BatchColumn<AttemptReport>[] = [
  DELIVERY_ID,
  { name: "organization_id", type: "text", read: (report) => report.organizationId },
  { name: "endpoint_id", type: "text", read: (report) => report.endpointId },
  { name: "receiver", type: "integer", read: (report) => report.receiver },
  { name: "trigger", type: "text", read: (report) => report.trigger },
  { name: "started_at", type: "timestamptz", read: (report) => report.startedAt },
  { name: "finished_at", type: "timestamptz", read: (report) => report.finishedAt },
  { name: "result", type: "text", read: (report) => report.result },
  { name: "duration_ms", type: "integer", read: (report) => report.durationMs },
  { name: "status", type: "integer", read: (report) => report.status },
  { name: "error_code", type: "text", read: (report) => report.errorCode },
  { name: "reply", type: "text", read: (report) => report.reply },
  { name: "reply_is_truncated", type: "boolean", read: (report) => report.replyIsTruncated },
  { name: "detail", type: "json", read: ({ detail }) => detail && JSON.stringify(detail) },
  { name: "state", type: "text", read: (report) => report.state },
  { name: "uses_retry", type: "boolean", read: (report) => report.usesRetry },
  NEXT_ATTEMPT_AT,
  { name: "pause_until", type: "timestamptz", read: (report) => report.pauseUntil },
  { name: "counts_for_health", type: "boolean", read: (report) => report.countsForHealth },
  { name: "is_refused", type: "boolean", read: (report) => report.isRefused },
  { name: "is_gone", type: "boolean", read: (report) => report.isGone },
];

function hasLaneChanged(row: EndpointAfter & EndpointBefore): boolean {
  const before = toLane({
    ...row,
    status: row.old_status,
    failed_attempts: row.old_failed_attempts,
    paused_until: row.old_paused_until,
  });
  const after = toLane(row);
  return (
    before.state !== after.state ||
    before.is_failing !== after.is_failing ||
    before.paused_until?.getTime() !== after.paused_until?.getTime()
  );
}
