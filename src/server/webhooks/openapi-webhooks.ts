import { type TSchema, Type } from "typebox";
import {
  RETRY_DELAYS_SECONDS_DEFAULT,
  SIGNATURE_TOLERANCE_SECONDS,
  WEBHOOK_TIMEOUT_SECONDS_DEFAULT,
} from "#contract/limits.ts";
import { PLAN_TERMS } from "#contract/plans.ts";
import { SIGNING_SECRET_PREFIX } from "#contract/webhooks/endpoint.ts";
import {
  BookingCancelledEvent,
  BookingCreatedEvent,
  BookingErasedEvent,
  BookingRescheduledEvent,
  EndpointTestEvent,
  STANDARD_WEBHOOK_HEADERS,
  TEST_BOOKING_HEADER,
  WEBHOOK_API_VERSION,
  WEBHOOK_EVENT_TYPES,
  WEBHOOK_HEADERS,
  WEBHOOK_USER_AGENT,
  type WebhookEventType,
} from "#contract/webhooks/webhook-event.ts";
import { PLANS_WITH_WEBHOOKS } from "./queue/caps.ts";

// The `webhooks` section of the OpenAPI document: what endpoints of kind `webhook` receive. docs/webhooks.md has the details.

const PLAN_NAMES = PLANS_WITH_WEBHOOKS.map((plan) => PLAN_TERMS[plan].name).join(" and ");
const SECRET_FORM = `\`${SIGNING_SECRET_PREFIX}…\``;

const RULES = `Verify \`${WEBHOOK_HEADERS.signature}\` before anything else: the hexadecimal HMAC-SHA256 of \`<t>.<raw body>\`, keyed with the
endpoint's whole ${SECRET_FORM} secret, must equal one of the \`v1\` values, and \`t\` must be within ${SIGNATURE_TOLERANCE_SECONDS} seconds of the current time. Or
verify \`${STANDARD_WEBHOOK_HEADERS.signature}\` with a Standard Webhooks library. Respond with 2xx within ${WEBHOOK_TIMEOUT_SECONDS_DEFAULT} seconds,
unless the server has another limit, and do the work afterwards. The same event may arrive more than once: use \`id\` to remove duplicates.`;

const RETRIES = `A delivery is retried after any response other than 2xx or 410, by default up to ${RETRY_DELAYS_SECONDS_DEFAULT.length} times within about two hours. Redirects are not followed.`;

const header = (name: string, description: string, example: string, required = true) => ({
  name,
  in: "header",
  required,
  description,
  schema: Type.String({ examples: [example] }),
});

const MODE_HEADERS = Object.entries(TEST_BOOKING_HEADER).map(([name, value]) =>
  header(name, "Only on events about test bookings.", value, false),
);

type Described = {
  operationId: string;
  summary: string;
  description: string;
  schema: TSchema;
  responses: Record<string, { description: string }>;
};

const toWebhook = (type: WebhookEventType, { schema, ...described }: Described) => ({
  post: {
    ...described,
    security: [],
    parameters: [
      header(
        "User-Agent",
        "The sender and the address of its documentation.",
        `${WEBHOOK_USER_AGENT} (+https://…/docs)`,
      ),
      header(WEBHOOK_HEADERS.eventType, "The type of the event, as in the body.", type),
      ...(type === "endpoint.test" ? [] : MODE_HEADERS),
      header(
        WEBHOOK_HEADERS.deliveryId,
        "Identifies the delivery of this event to this endpoint. The same in every attempt.",
        "0d9c8a4e-5b1f-4c3e-9a67-2f1be8d60c55",
      ),
      header(
        WEBHOOK_HEADERS.signature,
        "The signing time (unix seconds) and the signature. During the overlap of a rotation there is one signature per secret.",
        "t=1793525400,v1=72037e86def453cf6a64018f6cf1777244901dd1b7431177c7374ccb54040b54",
      ),
      header(STANDARD_WEBHOOK_HEADERS.id, "The event's id, as in the body.", "evt_4f2c8a90d1e74b6fa35c0b7e9d8a6c12"),
      header(STANDARD_WEBHOOK_HEADERS.timestamp, "The signing time, unix seconds.", "1793525400"),
      header(
        STANDARD_WEBHOOK_HEADERS.signature,
        "The signature as Standard Webhooks defines it. During the overlap of a rotation, one per secret with a space between them.",
        "v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=",
      ),
    ],
    requestBody: { required: true, content: { "application/json": { schema, example: toExample(schema) } } },
  },
});

const RESPONSES = {
  "2XX": { description: "Delivered." },
  "410": { description: "Permanently gone: the delivery fails and the endpoint is turned off." },
  default: { description: "Retried. `Retry-After` of up to an hour is honoured." },
};

export const OPENAPI_WEBHOOKS = {
  "booking.created": toWebhook("booking.created", {
    operationId: "bookingCreated",
    summary: "Booking created",
    description: `Sent to every endpoint that is on and subscribed to this event type when a booking is made through a widget that has Store
bookings on (${PLAN_NAMES} plans).

${RULES}

${RETRIES}`,
    schema: BookingCreatedEvent,
    responses: RESPONSES,
  }),
  "booking.cancelled": toWebhook("booking.cancelled", {
    operationId: "bookingCancelled",
    summary: "Booking cancelled",
    description: `Sent to endpoints that are subscribed to this event type when the appointment of a stored booking was cancelled in the
scheduling system. The booking is as it is now, with the status \`cancelled\`.

${RULES}

${RETRIES}`,
    schema: BookingCancelledEvent,
    responses: RESPONSES,
  }),
  "booking.rescheduled": toWebhook("booking.rescheduled", {
    operationId: "bookingRescheduled",
    summary: "Booking rescheduled",
    description: `Sent to endpoints that are subscribed to this event type when the appointment of a stored booking was moved in the
scheduling system. The booking has the new times, \`previousStart\` is the old one, and the reference stays the same.

${RULES}

${RETRIES}`,
    schema: BookingRescheduledEvent,
    responses: RESPONSES,
  }),
  "booking.erased": toWebhook("booking.erased", {
    operationId: "bookingErased",
    summary: "Booking erased",
    description: `Sent to endpoints that are subscribed to this event type when a stored booking is erased or deleted and, if the
endpoint is set to receive it, at the end of its retention: delete your copy. The event contains no personal data.

${RULES}

${RETRIES}`,
    schema: BookingErasedEvent,
    responses: RESPONSES,
  }),
  "endpoint.test": toWebhook("endpoint.test", {
    operationId: "endpointTest",
    summary: "Endpoint test",
    description: `Sent once, without retries, when someone tests an endpoint. It contains no booking.

${RULES}`,
    schema: EndpointTestEvent,
    responses: {
      "2XX": { description: "Delivered." },
      default: { description: "Failed. A test is not retried, and never turns the endpoint off." },
    },
  }),
} as const;

const SCHEMAS: Readonly<Record<WebhookEventType, TSchema>> = {
  "booking.created": BookingCreatedEvent,
  "booking.cancelled": BookingCancelledEvent,
  "booking.rescheduled": BookingRescheduledEvent,
  "booking.erased": BookingErasedEvent,
  "endpoint.test": EndpointTestEvent,
};

/** Every event type with its JSON Schema and an example that fits it. */
export function listEventTypes() {
  return WEBHOOK_EVENT_TYPES.map((type) => ({
    type,
    apiVersion: WEBHOOK_API_VERSION,
    schema: SCHEMAS[type],
    example: toExample(SCHEMAS[type]),
  }));
}

/** Built from the examples in the schema. Optional fields without one are left out. */
function toExample(schema: TSchema): unknown {
  const {
    examples,
    const: only,
    anyOf,
    items,
    properties,
  } = schema as {
    examples?: readonly unknown[];
    const?: unknown;
    anyOf?: readonly TSchema[];
    items?: TSchema;
    properties?: Readonly<Record<string, TSchema>>;
  };
  const given = examples?.[0] ?? only;
  if (given !== undefined) return given;
  if (anyOf) return anyOf.map(toExample).find((each) => each !== undefined) ?? null;
  if (items) return [toExample(items)];
  if (!properties) return undefined;
  const values = Object.entries(properties).map(([name, property]) => [name, toExample(property)] as const);
  return Object.fromEntries(values.filter(([, value]) => value !== undefined));
}
