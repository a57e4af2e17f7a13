import { type Static, type TSchema, Type } from "typebox";
import { Attribution } from "../analytics/attribution.ts";
import { Answer, BOOKING_STATUS_CANCELLED, bookingFields, Customer, Service } from "../bookings/booking.ts";
import { deletionReason } from "../bookings/booking-changes.ts";
import { timestampOf } from "../timestamps.ts";

// The envelope that webhook endpoints receive and that cards are made from. It differs from the REST shapes on purpose:
// staff are objects, the UTM fields and click identifiers are grouped, and there is no `utmContent`.

export const WEBHOOK_API_VERSION = "2026-11-01";

export const WEBHOOK_EVENT_TYPES = [
  "booking.created",
  "booking.cancelled",
  "booking.rescheduled",
  "booking.erased",
  "endpoint.test",
] as const;
export type WebhookEventType = (typeof WEBHOOK_EVENT_TYPES)[number];

/** Headers of every signed delivery, spelled as in the contract. */
export const WEBHOOK_HEADERS = {
  eventType: "Service-Event",
  deliveryId: "Service-Delivery",
  signature: "Service-Signature",
} as const;
/** On deliveries about a test booking only: bodies have exactly the contract's fields. */
export const TEST_BOOKING_HEADER = { "Service-Mode": "test" } as const;
/** Headers that the Standard Webhooks specification adds (www.standardwebhooks.com). */
export const STANDARD_WEBHOOK_HEADERS = {
  id: "webhook-id",
  timestamp: "webhook-timestamp",
  signature: "webhook-signature",
} as const;
/** Followed by the address of the documentation: `Service-Webhooks/1.0 (+<docs_url>)`. */
export const WEBHOOK_USER_AGENT = "Service-Webhooks/1.0";

const StaffMember = Type.Object({
  id: Type.String({ description: "Identifier in the scheduling system.", examples: ["staff_winter"] }),
  name: Type.String({ examples: ["Dr. Ada Winter"] }),
});

const Business = Type.Object({
  id: Type.String({ description: "The organization's identifier.", examples: ["org_7HqWmZ3kTr9sXfB2"] }),
  name: Type.String({
    description: "The widget's business name; the organization's name where that is empty.",
    examples: ["Lindenhof Dental"],
  }),
});

const WidgetName = Type.Object({
  id: Type.String({ examples: ["w_4fTqD8sKmB2x"] }),
  name: Type.String({ examples: ["Website"] }),
});

const { source, medium, campaign, channel, landingPage, referrer, pageUrl, gaClientId } = Attribution.properties;
const { utmSource, utmMedium, utmCampaign, utmTerm } = Attribution.properties;

/** Includes only fields that were present; `utm` and `clickIds` are always included and may be empty. */
export const WebhookAttribution = Type.Object(
  {
    source,
    medium,
    campaign,
    channel,
    landingPage,
    referrer,
    pageUrl,
    utm: Type.Object({ source: utmSource, medium: utmMedium, campaign: utmCampaign, term: utmTerm }),
    clickIds: Type.Record(Type.String(), Type.String(), {
      description: "Keyed by the click identifier's name.",
      examples: [{ gclid: "Cj0KCQiAwtu9BhC8ARIsAI9JHanB" }],
    }),
    gaClientId,
  },
  {
    title: "WebhookAttribution",
    description:
      "Where the visitor came from. Only fields that were present are included; utm and clickIds are always included and may be empty.",
  },
);
export type WebhookAttribution = Static<typeof WebhookAttribution>;

/** Unlike the REST shape: `id` and `joinUrl` are here, staff are objects, and there is no `createdAt`. */
export const WebhookBooking = Type.Object(
  {
    reference: bookingFields.reference,
    id: Type.String({ description: "Identifier of the booking in the scheduling system.", examples: ["b-20417"] }),
    status: bookingFields.status,
    start: bookingFields.start,
    end: bookingFields.end,
    timeZone: bookingFields.timeZone,
    service: Service,
    staff: Type.Array(StaffMember),
    customer: Customer,
    answers: Type.Array(Answer, { description: "The visitor's answers to the service's questions." }),
    manageUrl: bookingFields.manageUrl,
    joinUrl: Type.Union([Type.String(), Type.Null()], {
      description: "Link to join an online appointment; null when there is none.",
      examples: ["https://meet.example/xkq-pwrt-vzd"],
    }),
  },
  { title: "WebhookBooking" },
);
export type WebhookBooking = Static<typeof WebhookBooking>;

const envelope = {
  id: Type.String({
    description: "The same for every endpoint and every attempt; use it to remove duplicates.",
    examples: ["evt_4f2c8a90d1e74b6fa35c0b7e9d8a6c12"],
  }),
  created: timestampOf("When the event was created.", "2026-11-01T09:30:00.041Z"),
  apiVersion: Type.String({ description: "Version of this envelope, a date.", examples: [WEBHOOK_API_VERSION] }),
};

const eventOf = <Name extends WebhookEventType, Data extends TSchema>(title: string, type: Name, data: Data) =>
  Type.Object(
    { id: envelope.id, type: Type.Literal(type), created: envelope.created, apiVersion: envelope.apiVersion, data },
    { title },
  );

const bookingEventFields = {
  booking: WebhookBooking,
  business: Business,
  widget: WidgetName,
  attribution: WebhookAttribution,
};

export const BookingCreatedEvent = eventOf("BookingCreatedEvent", "booking.created", Type.Object(bookingEventFields));
export type BookingCreatedEvent = Static<typeof BookingCreatedEvent>;

/** Has the same fields; a schema of its own for its example. */
const CancelledBooking = Type.Object({
  ...WebhookBooking.properties,
  status: Type.String({ description: "`cancelled`.", examples: [BOOKING_STATUS_CANCELLED] }),
});

export const BookingCancelledEvent = eventOf(
  "BookingCancelledEvent",
  "booking.cancelled",
  Type.Object({ ...bookingEventFields, booking: CancelledBooking }),
);
export type BookingCancelledEvent = Static<typeof BookingCancelledEvent>;

/** The appointment was moved in the scheduling system; the booking has the new times. */
export const BookingRescheduledEvent = eventOf(
  "BookingRescheduledEvent",
  "booking.rescheduled",
  Type.Object({
    ...bookingEventFields,
    previousStart: timestampOf("Start of the appointment before it was moved.", "2026-11-04T09:00:00.000Z"),
  }),
);
export type BookingRescheduledEvent = Static<typeof BookingRescheduledEvent>;

/** Sent once by "Send test"; it contains no booking and no personal data. */
export const EndpointTestEvent = eventOf(
  "EndpointTestEvent",
  "endpoint.test",
  Type.Object({
    endpoint: Type.Object({ id: Type.String({ examples: ["we_5HueCGU8rMjxEXxi"] }) }),
    business: Business,
  }),
);
export type EndpointTestEvent = Static<typeof EndpointTestEvent>;

/** Sent when a stored booking is deleted, so that copies of it can be deleted too. Nothing personal. */
export const BookingErasedEvent = eventOf(
  "BookingErasedEvent",
  "booking.erased",
  Type.Object({
    booking: Type.Object({ reference: bookingFields.reference }),
    widget: WidgetName,
    reason: deletionReason,
  }),
);
export type BookingErasedEvent = Static<typeof BookingErasedEvent>;

const erasedExample = {
  id: "evt_4f2c8a90d1e74b6fa35c0b7e9d8a6c12",
  type: "booking.erased",
  created: "2026-11-01T09:30:00.041Z",
  apiVersion: "2026-11-01",
  data: {
    booking: { reference: "SVC-7KQ2MX" },
    widget: { id: "w_4fTqD8sKmB2x", name: "Website" },
    reason: "erased",
  },
};

/** Test events are not listed. */
export const WebhookEventPage = Type.Object(
  {
    data: Type.Array(
      Type.Union([BookingCreatedEvent, BookingCancelledEvent, BookingRescheduledEvent, BookingErasedEvent]),
      {
        description: "More event types may be added. Ignore types you don't know.",
        examples: [[erasedExample]],
      },
    ),
    nextCursor: Type.String({
      description:
        "Send it back as cursor to get the events after this page. Also on the last page: save it for the next time.",
      examples: ["2026-11-01T09:30:00.052Z"],
    }),
    hasMore: Type.Boolean({ description: "Whether more events exist already.", examples: [false] }),
  },
  { title: "WebhookEventPage" },
);
export type WebhookEventPage = Static<typeof WebhookEventPage>;

/** `schema` is JSON Schema (2020-12). */
export const EventTypeList = Type.Object(
  {
    data: Type.Array(
      Type.Object({
        type: Type.Enum([...WEBHOOK_EVENT_TYPES], { examples: ["booking.erased"] }),
        apiVersion: envelope.apiVersion,
        schema: Type.Record(Type.String(), Type.Unknown(), {
          description: "JSON Schema (2020-12) of the event.",
          examples: [{ type: "object", required: ["id", "type", "created", "apiVersion", "data"] }],
        }),
        example: Type.Record(Type.String(), Type.Unknown(), {
          description: "An event that fits the schema.",
          examples: [erasedExample],
        }),
      }),
    ),
  },
  { title: "EventTypeList" },
);

/** Events with the whole booking. */
export type BookingEvent = BookingCreatedEvent | BookingCancelledEvent | BookingRescheduledEvent;
/** Events that chat endpoints get as a card. */
export type CardEvent = BookingEvent | EndpointTestEvent;
