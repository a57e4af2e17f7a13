import { type Static, Type } from "typebox";
import {
  ATTEMPT_ERROR_CODES,
  ATTEMPT_RESULTS,
  ATTEMPT_TRIGGERS,
  CANCEL_REASONS,
  DELIVERY_STATES,
} from "../delivery.ts";
import { ENDPOINT_KINDS } from "../endpoint.ts";
import { Timestamp } from "../timestamps.ts";
import { WEBHOOK_EVENT_TYPES } from "../webhook-event.ts";
import { NullableInteger, NullableText, NullableTimestamp, nullable, oneOf } from "./forms.ts";

/** One event to one endpoint: a row of the delivery log. */
export const AppDelivery = Type.Object({
  id: Type.String(),
  endpoint: Type.Object({
    id: Type.String(),
    kind: oneOf(ENDPOINT_KINDS),
    url: Type.String(),
    description: Type.String(),
    isRemoved: Type.Boolean(),
  }),
  event: Type.Object({ id: Type.String(), type: oneOf(WEBHOOK_EVENT_TYPES) }),
  /** Null for a test, and when its booking was erased. */
  reference: NullableText,
  state: oneOf(DELIVERY_STATES),
  cancelReason: nullable(oneOf(CANCEL_REASONS)),
  attemptCount: Type.Integer(),
  retriesUsed: Type.Integer(),
  /** HTTP status of the last attempt; null without a response. */
  lastStatus: NullableInteger,
  /** Null if the last attempt succeeded. */
  lastError: nullable(oneOf(ATTEMPT_ERROR_CODES)),
  lastDurationMs: NullableInteger,
  /** The trigger of the pending or running attempt. */
  pending: nullable(oneOf(ATTEMPT_TRIGGERS)),
  isInFlight: Type.Boolean(),
  nextAttemptAt: NullableTimestamp,
  createdAt: Timestamp,
  completedAt: NullableTimestamp,
  /** The content was erased with the booking, so it cannot be redelivered. */
  isErased: Type.Boolean(),
});
export type AppDelivery = Static<typeof AppDelivery>;

export const AppDeliveryPage = Type.Object({
  data: Type.Array(AppDelivery),
  /** Send it back as `cursor`; null on the last page. */
  nextCursor: NullableText,
});
export type AppDeliveryPage = Static<typeof AppDeliveryPage>;

export const AppAttempt = Type.Object({
  number: Type.Integer(),
  trigger: oneOf(ATTEMPT_TRIGGERS),
  startedAt: Timestamp,
  result: oneOf(ATTEMPT_RESULTS),
  durationMs: NullableInteger,
  status: NullableInteger,
  errorCode: nullable(oneOf(ATTEMPT_ERROR_CODES)),
  /** The start of the response body. Null if empty or erased, and for viewers. */
  reply: NullableText,
  replyIsTruncated: Type.Boolean(),
  nextAttemptAt: NullableTimestamp,
});
export type AppAttempt = Static<typeof AppAttempt>;

export const AppDeliveryDetail = Type.Object({
  ...AppDelivery.properties,
  /** Newest first. */
  attempts: Type.Array(AppAttempt),
  /** The request body: the JSON event or the chat card. Null if erased, and for viewers. */
  body: NullableText,
});
export type AppDeliveryDetail = Static<typeof AppDeliveryDetail>;

/** The response to "send test" and "redeliver": the delivery to watch. */
export const QueuedDelivery = Type.Object({ deliveryId: Type.String() });
export type QueuedDelivery = Static<typeof QueuedDelivery>;
