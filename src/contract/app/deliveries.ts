import { type Static, Type } from "typebox";
import { DELIVERY_ID_PATTERN, ENDPOINT_ID, REDELIVERY_ID, toIdPattern, WIDGET_ID, WIDGET_ID_PATTERN } from "../ids.ts";
import { INSTANT_PATTERN, Timestamp } from "../timestamps.ts";
import {
  ATTEMPT_ERROR_CODES,
  ATTEMPT_RESULTS,
  ATTEMPT_TRIGGERS,
  CANCEL_REASONS,
  DELIVERY_STATES,
  REDELIVERABLE_STATES,
  REDELIVERY_STATES,
} from "../webhooks/delivery.ts";
import { ENDPOINT_KINDS } from "../webhooks/endpoint.ts";
import { WEBHOOK_EVENT_TYPES } from "../webhooks/webhook-event.ts";
import { MODES } from "../widgets/widget.ts";
import {
  bodyOf,
  idOf,
  ListQuery,
  NullableInteger,
  NullableText,
  NullableTimestamp,
  nullable,
  oneOf,
  pageOf,
} from "./forms.ts";

/** One event to one endpoint: a row of the delivery log. */
export const AppDelivery = Type.Object(
  {
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
    /** Null for a test. */
    widgetId: NullableText,
    /** How its booking was made. Null for a test of the endpoint, and without a stored booking. */
    mode: nullable(oneOf(MODES)),
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
  },
  { title: "Delivery" },
);
export type AppDelivery = Static<typeof AppDelivery>;

export const AppDeliveryPage = pageOf(AppDelivery);
export type AppDeliveryPage = Static<typeof AppDeliveryPage>;

export const AppAttempt = Type.Object(
  {
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
    /** Null if nothing was sent, if it was erased, for viewers, and for attempts made before version 1.1. */
    request: nullable(
      Type.Object({
        /** Signatures and values of custom headers are masked. */
        headers: Type.Record(Type.String(), Type.String()),
        bodyBytes: Type.Integer(),
        remoteAddress: NullableText,
      }),
    ),
    responseHeaders: nullable(Type.Record(Type.String(), Type.String())),
    /** Why the response isn't valid HTTP, in the parser's words. */
    responseFault: NullableText,
    /** Milliseconds. Null parts did not happen: the connection was reused, the host is an address, or there is no TLS. */
    timings: nullable(
      Type.Object({
        lookupMs: NullableInteger,
        connectMs: NullableInteger,
        tlsMs: NullableInteger,
        /** Since the attempt began. */
        firstByteMs: NullableInteger,
      }),
    ),
  },
  { title: "Attempt" },
);
export type AppAttempt = Static<typeof AppAttempt>;

export const AppDeliveryDetail = Type.Object(
  {
    ...AppDelivery.properties,
    /** Newest first. */
    attempts: Type.Array(AppAttempt),
    /** The request body: the JSON event or the chat card. Null if erased, and for viewers. */
    body: NullableText,
  },
  { title: "DeliveryDetail" },
);
export type AppDeliveryDetail = Static<typeof AppDeliveryDetail>;

/** The response to "send test" and "redeliver": the delivery to watch. */
export const QueuedDelivery = Type.Object({ deliveryId: Type.String() }, { title: "QueuedDelivery" });
export type QueuedDelivery = Static<typeof QueuedDelivery>;

/** Starts a bulk redelivery of all deliveries that match every given condition. Instants are ISO strings. */
export const NewRedelivery = bodyOf(
  {
    /** `failed` if omitted. */
    states: Type.Optional(Type.Array(oneOf(REDELIVERABLE_STATES), { minItems: 1 })),
    from: Type.String({ pattern: INSTANT_PATTERN }),
    to: Type.Optional(Type.String({ pattern: INSTANT_PATTERN, description: "Not before `from`. Default: now." })),
    endpoint: Type.Optional(idOf(ENDPOINT_ID)),
    widget: Type.Optional(idOf(WIDGET_ID)),
    error: Type.Optional(oneOf(ATTEMPT_ERROR_CODES)),
  },
  {
    title: "NewRedelivery",
    examples: [{ from: "2026-11-01T09:30:00.000Z", to: "2026-11-02", states: ["failed"] }],
  },
);
export type NewRedelivery = Static<typeof NewRedelivery>;

/** How many deliveries a bulk redelivery would send now. */
export const RedeliveryCount = Type.Object({ matched: Type.Integer() });
export type RedeliveryCount = Static<typeof RedeliveryCount>;

export const AppRedelivery = Type.Object(
  {
    id: Type.String(),
    state: oneOf(REDELIVERY_STATES),
    filter: Type.Object({
      states: Type.Array(oneOf(REDELIVERABLE_STATES)),
      from: Timestamp,
      to: Timestamp,
      endpoint: Type.Optional(Type.String()),
      widget: Type.Optional(Type.String()),
      error: Type.Optional(oneOf(ATTEMPT_ERROR_CODES)),
    }),
    /** Deliveries that matched at the start. */
    matched: Type.Integer(),
    /** How many of these are queued so far, without those that could no longer be sent. */
    queued: Type.Integer(),
    /** What became of the queued ones. */
    waiting: Type.Integer(),
    delivered: Type.Integer(),
    failed: Type.Integer(),
    canceled: Type.Integer(),
    createdAt: Timestamp,
    finishedAt: NullableTimestamp,
  },
  { title: "Redelivery" },
);
export type AppRedelivery = Static<typeof AppRedelivery>;

export const AppRedeliveryList = pageOf(AppRedelivery);
export type AppRedeliveryList = Static<typeof AppRedeliveryList>;

const instant = (description: string) =>
  Type.Optional(Type.String({ pattern: INSTANT_PATTERN, description, examples: ["2026-11-01T09:30:00.000Z"] }));

/** The forms that server/webhooks/log/app-routes.ts knows. */
const SEARCH_PATTERN =
  "^(?:SVC-[0-9A-Za-z]{6}|evt_[0-9a-f]{32}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[^\\u0000-\\u001f\\u007f-\\u009f]*@[^\\u0000-\\u001f\\u007f-\\u009f]*)$";

export const DeliveriesQuery = Type.Object({
  search: Type.Optional(
    Type.String({
      maxLength: 320,
      pattern: SEARCH_PATTERN,
      description: "A reference, an event ID, a delivery ID or, for keys with `bookings`, a customer's email.",
    }),
  ),
  endpoint: Type.Optional(
    Type.String({
      pattern: toIdPattern(ENDPOINT_ID),
      description: "Only deliveries to this endpoint. 404 when it is not one of yours.",
    }),
  ),
  widget: Type.Optional(Type.String({ pattern: WIDGET_ID_PATTERN, description: "Only deliveries for this widget." })),
  state: Type.Optional(Type.Enum([...DELIVERY_STATES])),
  status: Type.Optional(Type.Integer({ minimum: 100, maximum: 999, description: "HTTP status of the last attempt." })),
  error: Type.Optional(Type.Enum([...ATTEMPT_ERROR_CODES])),
  redelivery: Type.Optional(
    Type.String({ pattern: toIdPattern(REDELIVERY_ID), description: "Only what this bulk redelivery sent." }),
  ),
  from: instant("Deliveries created at or after this time."),
  to: instant("Deliveries created before this time."),
  ...ListQuery.properties,
  cursor: Type.Optional(
    Type.String({
      ...ListQuery.properties.cursor,
      pattern: `${INSTANT_PATTERN.slice(0, -1)}_${DELIVERY_ID_PATTERN.slice(1)}`,
      examples: ["2026-11-01T09:30:00.000Z_0f6b7c1e-2d3a-4b5c-8d9e-0f1a2b3c4d5e"],
    }),
  ),
});
