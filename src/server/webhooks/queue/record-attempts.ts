import { sql } from "kysely";
import type { EndpointId } from "#contract/ids.ts";
import type { EndpointStatus } from "#contract/webhooks/endpoint.ts";
import type { Db } from "../../db/connections/pool.ts";
import { table } from "../../db/home.ts";
import { type BatchColumn, type BatchValues, toBatchRows, toBatchValues } from "../../db/statements/batch-rows.ts";
import { FixedStatement } from "../../db/statements/run-prepared.ts";
import { toLane } from "./lanes.ts";
import type { AttemptReport, EndpointHealth } from "./report-queries.ts";

// Writes attempts to the organizations' tables, in one statement.

/** Another success of a healthy endpoint within a second changes nothing, so it isn't written. */
const isNews = sql`not (heard.failures = 0 and heard.pause_until is null and endpoint.failing_since is null
        and endpoint.refused_deliveries = 0 and endpoint.is_answering and heard.last_status is not distinct from endpoint.last_status
        and heard.success_at is not null and endpoint.last_success_at between heard.at - interval '1 second' and heard.at)`;

/** An endpoint after its reports were counted; `lane_changed` when claiming must know. */
type EndpointAfter = Omit<EndpointHealth, "endpoint_id" | "last_failure"> & {
  id: EndpointId;
  status: EndpointStatus;
  paused_until: Date | null;
  removed_at: Date | null;
  requests_per_minute: number | null;
  is_answering: boolean;
  was_in_use: boolean;
  lane_changed: boolean;
};
type EndpointChange = Omit<EndpointAfter, "lane_changed"> & EndpointBefore;
type EndpointBefore = {
  old_status: EndpointStatus;
  old_failed_attempts: number;
  old_is_answering: boolean;
  old_paused_until: Date | null;
};

/**
 * Adds each attempt to the log, moves its delivery on, and counts it for its endpoint's health. Several attempts of one
 * endpoint are added up first (`heard`), and count only for the receiver that they were sent to.
 */
export async function recordAttempts(transaction: Db, reports: readonly AttemptReport[]): Promise<EndpointAfter[]> {
  const rows = await recording.run(transaction, toBatchValues(REPORT_COLUMNS, reports));
  return rows.map((row) => ({ ...row, lane_changed: hasLaneChanged(row) }));
}

const recording = new FixedStatement<EndpointChange, BatchValues>(
  (values) => sql`-- prepared: record_attempts
    with report as materialized (
      select ${sql.join(REPORT_COLUMNS.map(({ name }) => sql.ref(name)))}
      from ${toBatchRows("report", REPORT_COLUMNS, values)}
    ), moved as (
      update ${table("deliveries", "delivery")} set state = coalesce(report.state, delivery.state),
        cancel_reason = case when report.state is null then delivery.cancel_reason end,
        attempt_count = delivery.attempt_count + 1, retries_used = delivery.retries_used + report.uses_retry::integer,
        next_attempt_at = report.next_attempt_at, last_status = report.status, last_error = report.error_code,
        completed_at = case when report.state is null then delivery.completed_at
          when report.next_attempt_at is null then report.finished_at end
      from report where delivery.organization_id = report.organization_id and delivery.id = report.delivery_id
      returning delivery.id, delivery.attempt_count
    ), logged as (
      insert into ${table("delivery_attempts")} (organization_id, delivery_id, number, endpoint_id, trigger, started_at,
        result, duration_ms, status, error_code, reply, reply_is_truncated, detail, next_attempt_at)
      select report.organization_id, report.delivery_id, moved.attempt_count, report.endpoint_id, report.trigger,
        report.started_at, report.result, report.duration_ms, report.status, report.error_code, report.reply,
        report.reply_is_truncated, report.detail, report.next_attempt_at
      from report join moved on moved.id = report.delivery_id
    ), heard as (
      select organization_id, endpoint_id, receiver, max(finished_at) as at, max(pause_until) as pause_until,
        max(finished_at) filter (where result = 'delivered') as delivered_at,
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
      join ${table("endpoints", "endpoint")} on endpoint.organization_id = heard.organization_id and endpoint.id = heard.endpoint_id
        and endpoint.receiver = heard.receiver
      where ${isNews}
      order by heard.endpoint_id for no key update of endpoint
    )
    update ${table("endpoints", "endpoint")} set last_attempt_at = locked.at, last_status = locked.last_status,
      last_success_at = coalesce(locked.delivered_at, last_success_at),
      paused_until = greatest(paused_until, locked.pause_until),
      failing_since = case when locked.success_at is null then coalesce(failing_since, locked.failure_at) end,
      failed_attempts = case when locked.success_at is null then failed_attempts + locked.failures else 0 end,
      is_answering = locked.success_at is not null or (locked.failures = 0 and is_answering),
      exhausted_deliveries = case when locked.success_at is null then exhausted_deliveries + locked.exhausted else 0 end,
      refused_deliveries = case when locked.success_at is null and not locked.ends_streak
        then refused_deliveries + locked.refused else 0 end,
      status = case when locked.is_gone then 'disabled' else status end,
      disabled_reason = case when locked.is_gone and status = 'enabled' then 'gone' else disabled_reason end,
      disabled_at = case when locked.is_gone and status = 'enabled' then locked.at else disabled_at end
    from locked where endpoint.organization_id = locked.organization_id and endpoint.id = locked.endpoint_id
    returning endpoint.id, endpoint.organization_id, endpoint.kind, endpoint.status, endpoint.paused_until,
      endpoint.removed_at, endpoint.failing_since, endpoint.failed_attempts, endpoint.is_answering, endpoint.exhausted_deliveries,
      endpoint.refused_deliveries, endpoint.requests_per_minute, locked.is_gone, old.status as old_status,
      old.failed_attempts as old_failed_attempts, old.is_answering as old_is_answering, old.paused_until as old_paused_until,
      old.status = 'enabled' and old.removed_at is null as was_in_use`,
);

const REPORT_COLUMNS: readonly BatchColumn<AttemptReport>[] = [
  { name: "delivery_id", type: "uuid", read: (report) => report.deliveryId },
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
  { name: "next_attempt_at", type: "timestamptz", read: (report) => report.nextAttemptAt },
  { name: "pause_until", type: "timestamptz", read: (report) => report.pauseUntil },
  { name: "counts_for_health", type: "boolean", read: (report) => report.countsForHealth },
  { name: "is_refused", type: "boolean", read: (report) => report.isRefused },
  { name: "is_gone", type: "boolean", read: (report) => report.isGone },
];

function hasLaneChanged(row: EndpointChange): boolean {
  const before = toLane({
    ...row,
    status: row.old_status,
    failed_attempts: row.old_failed_attempts,
    is_answering: row.old_is_answering,
    paused_until: row.old_paused_until,
  });
  const after = toLane(row);
  return (
    before.state !== after.state ||
    before.is_failing !== after.is_failing ||
    before.is_answering !== after.is_answering ||
    before.paused_until?.getTime() !== after.paused_until?.getTime()
  );
}
