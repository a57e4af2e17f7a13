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

/** One event to one endpoint: a line of the delivery log. */
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
  /** HTTP status of the last attempt; null where there was no reply. */
  lastStatus: NullableInteger,
  /** Null where the last attempt went well. */
  lastError: nullable(oneOf(ATTEMPT_ERROR_CODES)),
  lastDurationMs: NullableInteger,
  /** What is to come, or under way. */
  pending: nullable(oneOf(ATTEMPT_TRIGGERS)),
  isInFlight: Type.Boolean(),
  nextAttemptAt: NullableTimestamp,
  createdAt: Timestamp,
  completedAt: NullableTimestamp,
  /** Its content is gone with the booking; it cannot be sent again. */
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
  /** The beginning of what the receiver answered. Null where it said nothing, it was erased, or the reader is a viewer. */
  reply: NullableText,
  replyIsTruncated: Type.Boolean(),
  nextAttemptAt: NullableTimestamp,
});
export type AppAttempt = Static<typeof AppAttempt>;

export const AppDeliveryDetail = Type.Object({
  ...AppDelivery.properties,
  /** Newest first. */
  attempts: Type.Array(AppAttempt),
  /** The bytes that are sent: the JSON event, or a chat's card. Null when erased, or when the reader is a viewer. */
  body: NullableText,
});
export type AppDeliveryDetail = Static<typeof AppDeliveryDetail>;

/** Answer to "send test" and "redeliver": the delivery to watch. */
export const QueuedDelivery = Type.Object({ deliveryId: Type.String() });
export type QueuedDelivery = Static<typeof QueuedDelivery>;
