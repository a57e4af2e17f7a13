import { sql } from "kysely";
import type { DeliveryId, EndpointId, OrganizationId, Reference } from "#contract/ids.ts";
import type {
  AttemptDetail,
  AttemptErrorCode,
  AttemptResult,
  AttemptTrigger,
  DeliveryState,
} from "#contract/webhooks/delivery.ts";
import type { EndpointKind } from "#contract/webhooks/endpoint.ts";
import type { Home } from "../../db/citus/homes.ts";
import type { Db } from "../../db/connections/pool.ts";
import { table } from "../../db/home.ts";
import { type BatchColumn, type BatchValues, toBatchRows, toBatchValues } from "../../db/statements/batch-rows.ts";
import { FixedStatement } from "../../db/statements/run-prepared.ts";
import { inTransaction } from "../../db/statements/transactions.ts";
import { writeLane } from "./lanes.ts";
import { recordAttempts } from "./record-attempts.ts";

// Writes how attempts ended, in one transaction of four steps: find the reports of URLs that have changed, give back the leases
// (the queue), record the attempts with their deliveries and endpoints (record-attempts.ts), and update lanes whose endpoint
// changed. What must stay true:
//
// - A report counts only while its lease's token is the current one. A worker that was thought dead changes nothing.
// - The reply of a former URL is logged, and decides nothing: the delivery is sent to the current one.
// - Rows are locked in the order of claim.ts, and within a table by id, so two writers never wait for each other.

/** How an attempt ended, and what follows from it. */
export type AttemptReport = {
  readonly organizationId: OrganizationId;
  readonly endpointId: EndpointId;
  readonly deliveryId: DeliveryId;
  readonly leaseToken: string;
  /** The endpoint's `receiver` when the request was made. */
  readonly receiver: number;
  /** The booking's reference. It isn't written, but notices name it. */
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
  last_failure: Pick<AttemptReport, "reference" | "status" | "errorCode" | "reply"> | null;
  /** The endpoint was turned off with this report, because its receiver is permanently gone. */
  is_gone: boolean;
};

/** Audits that an endpoint was turned off because its receiver is gone, in the transaction that does so. */
export type AuditGone = (transaction: Db, owner: OrganizationId, id: EndpointId) => Promise<void>;

/** All at one home. Returns the health of endpoints in use that are failing or gone. */
export async function writeReports(
  { writer }: Pick<Home, "writer">,
  sent: readonly AttemptReport[],
  auditGone: AuditGone,
): Promise<EndpointHealth[]> {
  return await inTransaction(writer, async (transaction) => {
    const receivers = await findNewReceivers(transaction, sent);
    const reports = sent.map((report) => {
      const current = receivers.get(report.endpointId) ?? report.receiver;
      return { ...report, ...(current === report.receiver ? { isRepeated: false } : toRepeated(report)) };
    });
    const released = await releaseLeases(transaction, reports);
    const accepted = reports.filter(({ deliveryId, leaseToken }) => released.get(deliveryId) === leaseToken);
    const endpoints = accepted.length === 0 ? [] : await recordAttempts(transaction, accepted);
    const changed = endpoints.filter((endpoint) => endpoint.lane_changed);
    for (const endpoint of changed.toSorted((a, b) => (a.id < b.id ? -1 : 1))) await writeLane(transaction, endpoint);
    const inUse = endpoints.filter((endpoint) => endpoint.was_in_use);
    for (const { organization_id: owner, id, is_gone } of inUse) if (is_gone) await auditGone(transaction, owner, id);
    return inUse
      .filter((endpoint) => endpoint.failing_since !== null || endpoint.is_gone)
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

/** A deleted endpoint has no other URL. Its secrets are gone, but a reply to a request in flight counts. */
async function findNewReceivers(
  transaction: Db,
  reports: readonly AttemptReport[],
): Promise<ReadonlyMap<EndpointId, AttemptReport["receiver"]>> {
  const found = await newReceivers.run(transaction, toBatchValues(RECEIVER_COLUMNS, reports));
  return new Map(found.map(({ id, receiver }) => [id, receiver]));
}

const newReceivers = new FixedStatement<{ id: EndpointId; receiver: number }, BatchValues>(
  (values) => sql`-- prepared: find_new_receivers
    select endpoint.id, endpoint.receiver from ${toBatchRows("report", RECEIVER_COLUMNS, values)}
    join ${table("endpoints", "endpoint")} on endpoint.organization_id = report.organization_id and endpoint.id = report.endpoint_id
    where endpoint.receiver <> report.receiver and endpoint.removed_at is null`,
);

const RECEIVER_COLUMNS: readonly BatchColumn<AttemptReport>[] = [
  { name: "organization_id", type: "text", read: (report) => report.organizationId },
  { name: "endpoint_id", type: "text", read: (report) => report.endpointId },
  { name: "receiver", type: "integer", read: (report) => report.receiver },
];

/** The delivery is due again, for the same reason as before. */
function toRepeated({ trigger, finishedAt }: AttemptReport) {
  const state: DeliveryState | null = trigger === "automatic" ? "retrying" : null;
  return { state, usesRetry: false, nextAttemptAt: finishedAt, isRepeated: true };
}

type Release = AttemptReport & { readonly isRepeated: boolean };

/** The current token of each delivery. A batch may have reports on two leases of one delivery. */
type Released = ReadonlyMap<DeliveryId, string>;
type ReleasedRow = { delivery_id: DeliveryId; lease_token: string };

/** Takes finished deliveries out of the queue and schedules retries. Returns the deliveries for which a token was current. */
async function releaseLeases(transaction: Db, reports: readonly Release[]): Promise<Released> {
  const rows = await releasing.run(transaction, toBatchValues(RELEASE_COLUMNS, reports));
  return new Map(rows.map((row) => [row.delivery_id, row.lease_token]));
}

/** Not prepared: a plan for a short queue compares every report with all of a long one. */
const releasing = new FixedStatement<ReleasedRow, BatchValues>(
  (values) => sql`
    with held as materialized (
      select queue.delivery_id, queue.lease_token, report.next_attempt_at, report.is_repeated
      from ${toBatchRows("report", RELEASE_COLUMNS, values)}
      join ${table("delivery_queue", "queue")} using (delivery_id, lease_token)
      order by queue.delivery_id for update of queue
    ), rescheduled as (
      update ${table("delivery_queue", "queue")}
      set due_at = held.next_attempt_at, lease_token = null, leased_at = null, lease_until = null, leased_by = null,
        is_urgent = false, trigger = case when held.is_repeated then queue.trigger else 'automatic' end,
        resume_at = case when held.is_repeated then queue.resume_at end,
        redelivery_id = case when held.is_repeated then queue.redelivery_id end
      from held where queue.delivery_id = held.delivery_id and held.next_attempt_at is not null
    ), finished as (
      delete from ${table("delivery_queue", "queue")} using held
      where queue.delivery_id = held.delivery_id and held.next_attempt_at is null
    )
    select delivery_id, lease_token from held`,
);

const RELEASE_COLUMNS: readonly BatchColumn<Release>[] = [
  { name: "delivery_id", type: "uuid", read: (report) => report.deliveryId },
  { name: "lease_token", type: "uuid", read: (report) => report.leaseToken },
  { name: "next_attempt_at", type: "timestamptz", read: (report) => report.nextAttemptAt },
  { name: "is_repeated", type: "boolean", read: (report) => report.isRepeated },
];
