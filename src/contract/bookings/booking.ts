import { type Static, Type } from "typebox";
import { Attribution } from "../analytics/attribution.ts";
import { REFERENCE_PATTERN } from "../ids.ts";
import { pageByTime, timestampOf } from "../timestamps.ts";

// All examples in this folder describe the same booking, so that the API reference reads as a whole.

export const BOOKING_STATUS_CONFIRMED = "confirmed";
/** The appointment was cancelled. It may still be moved to another time, and is confirmed again then. */
export const BOOKING_STATUS_CANCELLED = "cancelled";
export const BOOKING_STATUSES = [BOOKING_STATUS_CONFIRMED, BOOKING_STATUS_CANCELLED] as const;
export type BookingStatus = (typeof BOOKING_STATUSES)[number];

export const Answer = Type.Object({
  questionId: Type.String({ examples: ["q_first_visit"] }),
  question: Type.String({
    description: "The question as the visitor saw it.",
    examples: ["Is this your first visit?"],
  }),
  answer: Type.String({ examples: ["Yes"] }),
});
export type Answer = Static<typeof Answer>;

export const Customer = Type.Object({
  name: Type.String({ examples: ["Mara Quell"] }),
  email: Type.String({ examples: ["mara.quell@example.com"] }),
  phone: Type.Union([Type.String(), Type.Null()], {
    description: "Null when the visitor left it empty.",
    examples: ["+49 30 5550100"],
  }),
  notes: Type.Union([Type.String(), Type.Null()], {
    description: "Null when the visitor left it empty.",
    examples: ["Please call when you are running late."],
  }),
});

export const Service = Type.Object({
  id: Type.String({ description: "Identifier of the service in the scheduling system.", examples: ["svc_checkup"] }),
  name: Type.String({ examples: ["Check-up"] }),
});

/** Fields that the REST shape and the webhook envelope share. */
export const bookingFields = {
  reference: Type.String({
    pattern: REFERENCE_PATTERN,
    description: "Unique key for upserts. Also written into the booking's notes in the scheduling system.",
    examples: ["SVC-7KQ2MX"],
  }),
  status: Type.String({
    description: "`confirmed`, or `cancelled` since the appointment was cancelled in the scheduling system.",
    examples: [BOOKING_STATUS_CONFIRMED],
  }),
  start: timestampOf("Start of the appointment.", "2026-11-05T13:30:00.000Z"),
  end: timestampOf("End of the appointment.", "2026-11-05T14:00:00.000Z"),
  timeZone: Type.String({ description: "The visitor's time zone (IANA name).", examples: ["Europe/Berlin"] }),
  manageUrl: Type.Optional(
    Type.String({
      description: "The scheduling system's link to manage the booking, when available.",
      examples: ["https://scheduler.example/manage/b-20417"],
    }),
  ),
};

/** REST shape: staff are names here, objects in the webhook envelope. */
export const Booking = Type.Object(
  {
    reference: bookingFields.reference,
    status: bookingFields.status,
    createdAt: timestampOf(
      "When the booking was made. All filters and the ordering use this.",
      "2026-11-01T09:30:00.000Z",
    ),
    start: bookingFields.start,
    end: bookingFields.end,
    timeZone: bookingFields.timeZone,
    service: Service,
    staff: Type.Array(Type.String({ examples: ["Dr. Ada Winter"] }), { description: "Staff names." }),
    customer: Customer,
    answers: Type.Array(Answer, { description: "The visitor's answers to the service's questions." }),
    attribution: Attribution,
    manageUrl: bookingFields.manageUrl,
  },
  { title: "Booking" },
);
export type Booking = Static<typeof Booking>;

/** What is left of a booking without everything that is about the customer, or could lead to them. */
export const AnonymousBooking = Type.Object(
  {
    ...Type.Omit(Booking, ["customer", "answers", "attribution", "manageUrl"]).properties,
    attribution: Type.Pick(Attribution, ["source", "medium", "campaign", "channel", "touches"], {
      title: "AnonymousAttribution",
      description: "Where the visitor came from. Only fields that were present are included.",
    }),
  },
  { title: "AnonymousBooking" },
);
export type AnonymousBooking = Static<typeof AnonymousBooking>;

const cursor = { last: "createdAt of the last booking", example: "2026-11-01T09:30:00.000Z" };

export const BookingPage = pageByTime(Booking, { title: "BookingPage", ...cursor });
export type BookingPage = Static<typeof BookingPage>;

/** What a key with `bookings.anonymous`, and without `bookings`, gets. */
export const AnonymousBookingPage = pageByTime(AnonymousBooking, { title: "AnonymousBookingPage", ...cursor });
