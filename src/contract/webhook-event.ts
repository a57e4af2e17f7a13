import { type Static, Type } from "typebox";
import { Attribution } from "./attribution.ts";
import { Answer, BOOKING_STATUS_CONFIRMED, Customer, Service } from "./booking.ts";
import { Timestamp } from "./timestamps.ts";

// The envelope that webhook endpoints receive and that cards are made from. It differs from the REST shapes on purpose:
// staff are objects, the UTM fields and click identifiers are grouped, and there is no `utmContent`.

export const WEBHOOK_API_VERSION = "2026-11-01";

export const WEBHOOK_EVENT_TYPES = ["booking.created", "endpoint.test"] as const;
export type WebhookEventType = (typeof WEBHOOK_EVENT_TYPES)[number];

/** The headers of ours that every signed delivery carries, spelled as the contract spells them. */
export const WEBHOOK_HEADERS = {
  eventType: "Service-Event",
  deliveryId: "Service-Delivery",
  signature: "Service-Signature",
} as const;
/** Followed by the address of the documentation: `Service-Webhooks/1.0 (+<docs_url>)`. */
export const WEBHOOK_USER_AGENT = "Service-Webhooks/1.0";

const Named = Type.Object({ id: Type.String(), name: Type.String() });

const { source, medium, campaign, channel, landingPage, referrer, pageUrl, gaClientId } = Attribution.properties;

/** Only fields that were present are included; `utm` and `clickIds` are always there and may be empty. */
export const WebhookAttribution = Type.Object(
  {
    source,
    medium,
    campaign,
    channel,
    landingPage,
    referrer,
    pageUrl,
    utm: Type.Object({
      source: Type.Optional(Type.String()),
      medium: Type.Optional(Type.String()),
      campaign: Type.Optional(Type.String()),
      term: Type.Optional(Type.String()),
    }),
    clickIds: Type.Record(Type.String(), Type.String(), {
      description: "Keyed by the click identifier's name.",
      examples: [{ gclid: "Cj0KCQiA" }],
    }),
    gaClientId,
  },
  { title: "WebhookAttribution" },
);
export type WebhookAttribution = Static<typeof WebhookAttribution>;

export const WebhookBooking = Type.Object(
  {
    reference: Type.String({ examples: ["SVC-7KQ2MX"] }),
    id: Type.String({ description: "Identifier of the booking in the external system." }),
    status: Type.String({ examples: [BOOKING_STATUS_CONFIRMED] }),
    start: Timestamp,
    end: Timestamp,
    timeZone: Type.String({ description: "The visitor's time zone (IANA name).", examples: ["Europe/Berlin"] }),
    service: Service,
    staff: Type.Array(Named),
    customer: Customer,
    answers: Type.Array(Answer),
    manageUrl: Type.Optional(
      Type.String({ description: "The external system's link to manage the booking, when available." }),
    ),
    joinUrl: Type.Union([Type.String(), Type.Null()]),
  },
  { title: "WebhookBooking" },
);
export type WebhookBooking = Static<typeof WebhookBooking>;

const envelope = {
  id: Type.String({
    description: "The same for every endpoint and every attempt: de-duplicate on it.",
    examples: ["evt_4f2c8a90d1e74b6fa35c0b7e9d8a6c12"],
  }),
  created: Timestamp,
  apiVersion: Type.String({ description: "A date.", examples: [WEBHOOK_API_VERSION] }),
};

export const BookingCreatedEvent = Type.Object(
  {
    id: envelope.id,
    type: Type.Literal("booking.created"),
    created: envelope.created,
    apiVersion: envelope.apiVersion,
    data: Type.Object({
      booking: WebhookBooking,
      business: Named,
      widget: Named,
      attribution: WebhookAttribution,
    }),
  },
  { title: "BookingCreatedEvent" },
);
export type BookingCreatedEvent = Static<typeof BookingCreatedEvent>;

/** Sent once by "send test"; it is about no booking and holds no visitor's data. */
export const EndpointTestEvent = Type.Object(
  {
    id: envelope.id,
    type: Type.Literal("endpoint.test"),
    created: envelope.created,
    apiVersion: envelope.apiVersion,
    data: Type.Object({
      endpoint: Type.Object({ id: Type.String({ examples: ["we_5HueCGU8rMjxEXxi"] }) }),
      business: Named,
    }),
  },
  { title: "EndpointTestEvent" },
);
export type EndpointTestEvent = Static<typeof EndpointTestEvent>;

export type WebhookEvent = BookingCreatedEvent | EndpointTestEvent;
