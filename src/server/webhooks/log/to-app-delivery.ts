import type { AppAttempt, AppDelivery } from "#contract/app/deliveries.ts";
import { DAY_MS } from "#contract/durations.ts";
import type { EndpointId, OrganizationId, Reference } from "#contract/ids.ts";
import { type AttemptDetail, describeAttempt } from "#contract/webhooks/delivery.ts";
import type { Db } from "../../db/connections/pool.ts";
import type { Deps } from "../../deps.ts";
import { assert } from "../../lib/assert.ts";
import { type EndpointName, listEndpointNames, listEndpoints } from "../endpoints/queries.ts";
import { toEndpointName, toShownOrigin } from "../endpoints/to-app-endpoint.ts";
import { countRecentAttempts } from "../health/queries.ts";
import { toFixedHeaders, toSignedHeaders } from "../request/guarded-send.ts";
import { type AttemptLogEntry, type DeliveryLogEntry, listDeliveries, toLogKeptSince } from "./queries.ts";

export type DeliveryReader = { seesCustomers: boolean; endpoints: ReadonlyMap<EndpointId, EndpointName> };

export function toAppDelivery(row: DeliveryLogEntry, { seesCustomers, endpoints }: DeliveryReader): AppDelivery {
  const endpoint = endpoints.get(row.endpoint_id);
  assert(endpoint, "an endpoint's row stays as long as its deliveries");
  return {
    id: row.id,
    endpoint: {
      id: endpoint.id,
      kind: endpoint.kind,
      url: seesCustomers ? endpoint.url : toShownOrigin(endpoint),
      description: endpoint.description,
      isRemoved: endpoint.removed_at !== null,
    },
    event: { id: row.event_id, type: row.type },
    reference: row.reference,
    widgetId: row.widget_id,
    mode: row.mode,
    state: row.state,
    cancelReason: row.cancel_reason,
    attemptCount: row.attempt_count,
    retriesUsed: row.retries_used,
    lastStatus: row.last_status,
    lastError: row.last_error,
    lastDurationMs: row.last_duration_ms,
    pending: row.pending,
    isInFlight: row.is_in_flight,
    nextAttemptAt: row.next_attempt_at?.toISOString() ?? null,
    createdAt: row.created_at.toISOString(),
    completedAt: row.completed_at?.toISOString() ?? null,
    isErased: row.is_erased,
  };
}

type AttemptReader = Pick<DeliveryReader, "seesCustomers"> & { delivery: DeliveryLogEntry; docsUrl: string };

/** Replies are hidden like customers, because a receiver may echo what it was sent. */
export function toAppAttempt(row: AttemptLogEntry, reader: AttemptReader): AppAttempt {
  const { seesCustomers } = reader;
  const detail = seesCustomers ? row.detail : null;
  return {
    number: row.number,
    trigger: row.trigger,
    startedAt: row.started_at.toISOString(),
    result: row.result,
    durationMs: row.duration_ms,
    status: row.status,
    errorCode: row.error_code,
    reply: seesCustomers ? row.reply : null,
    replyIsTruncated: row.reply_is_truncated,
    nextAttemptAt: row.next_attempt_at?.toISOString() ?? null,
    request: detail && {
      headers: toShownHeaders(detail, reader),
      bodyBytes: detail.bodyBytes,
      remoteAddress: detail.remoteAddress ?? null,
    },
    responseHeaders: detail?.responseHeaders ?? null,
    responseFault: row.detail?.responseFault ?? null,
    timings: detail?.timings ?? null,
  };
}

const MASK = "…";

/** The headers as they were sent, except for signatures and the values of custom headers. */
function toShownHeaders(detail: AttemptDetail, { delivery, docsUrl }: AttemptReader): Record<string, string> {
  const { signedAt, signatures, headerNames = [] } = detail;
  const custom = Object.fromEntries(headerNames.map((name) => [name, MASK]));
  if (signedAt === null) return { ...toFixedHeaders(docsUrl), ...custom };
  const repeat = (signature: string, separator: string) => new Array(signatures).fill(signature).join(separator);
  const signed = toSignedHeaders({
    eventType: delivery.type,
    eventId: delivery.event_id,
    deliveryId: delivery.id,
    isTestBooking: delivery.is_test_booking,
    signatures: {
      unixSeconds: signedAt,
      contract: `t=${signedAt},${repeat(`v1=${MASK}`, ",")}`,
      standard: repeat(`v1,${MASK}`, " "),
    },
  });
  return { ...toFixedHeaders(docsUrl), ...signed, ...custom };
}

/** A booking has one event when it is made and one for each change, each with one delivery per endpoint. */
const DELIVERIES_MAX = 100;

export async function listBookingDeliveries(
  db: Db,
  owner: OrganizationId,
  { reference, seesCustomers, now }: { reference: Reference; seesCustomers: boolean; now: Date },
): Promise<AppDelivery[]> {
  const rows = await listDeliveries(db, owner, { reference, keptSince: toLogKeptSince(now), limit: DELIVERIES_MAX });
  const endpoints = await readEndpointNames(db, owner);
  return rows.map((row) => toAppDelivery(row, { seesCustomers, endpoints }));
}

export async function readEndpointNames(db: Db, owner: OrganizationId): Promise<ReadonlyMap<EndpointId, EndpointName>> {
  return new Map((await listEndpointNames(db, owner)).map((endpoint) => [endpoint.id, endpoint]));
}

const DELIVERIES_SHOWN = 50;

/** What is wrong with an organization's endpoints and deliveries, in words and without anything personal. */
export async function readFailingDeliveries({ db, clock }: Pick<Deps, "db" | "clock">, owner: OrganizationId) {
  const now = clock.now();
  const recent = await countRecentAttempts(db, owner, { since: new Date(now.getTime() - DAY_MS) });
  const endpoints = (await listEndpoints(db, owner)).map((row) => {
    const lastDay = recent.find(({ endpoint_id }) => endpoint_id === row.id);
    return {
      id: row.id,
      name: toEndpointName(row),
      kind: row.kind,
      status: row.status,
      disabledReason: row.disabled_reason,
      failingSince: row.failing_since?.toISOString() ?? null,
      lastDay: { delivered: lastDay?.delivered ?? 0, failed: lastDay?.failed ?? 0 },
    };
  });
  const names = new Map((await listEndpointNames(db, owner)).map((each) => [each.id, each]));
  const wanted = { keptSince: toLogKeptSince(now), limit: DELIVERIES_SHOWN };
  const failed = await listDeliveries(db, owner, { ...wanted, state: "failed" });
  const retrying = await listDeliveries(db, owner, { ...wanted, state: "retrying" });
  const deliveries = [...failed, ...retrying].map((row) => {
    const endpoint = names.get(row.endpoint_id);
    assert(endpoint, "an endpoint's row stays as long as its deliveries");
    return {
      id: row.id,
      endpoint: toEndpointName(endpoint),
      eventType: row.type,
      reference: row.reference,
      state: row.state,
      reason: describeAttempt({ kind: endpoint.kind, status: row.last_status, errorCode: row.last_error }),
      attempts: row.attempt_count,
      nextAttemptAt: row.next_attempt_at?.toISOString() ?? null,
      createdAt: row.created_at.toISOString(),
    };
  });
  return { endpoints, deliveries };
}
