import type { AppAttempt, AppDelivery } from "#contract/app/deliveries.ts";
import type { AttemptDetail } from "#contract/delivery.ts";
import type { EndpointId } from "#contract/ids.ts";
import { assert } from "../../lib/assert.ts";
import type { EndpointName } from "../endpoints/queries.ts";
import { toShownOrigin } from "../endpoints/shown-url.ts";
import { toFixedHeaders, toSignedHeaders } from "../request/guarded-send.ts";
import type { AttemptLogEntry, DeliveryLogEntry } from "./queries.ts";

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
