import { type Static, Type } from "typebox";
import { Attribution } from "./attribution.ts";
import { Timestamp } from "./timestamps.ts";

export const BOOKING_STATUS_CONFIRMED = "confirmed";

export const Answer = Type.Object({
  questionId: Type.String(),
  question: Type.String(),
  answer: Type.String(),
});
export type Answer = Static<typeof Answer>;

export const Customer = Type.Object({
  name: Type.String(),
  email: Type.String(),
  phone: Type.Union([Type.String(), Type.Null()]),
  notes: Type.Union([Type.String(), Type.Null()]),
});

export const Service = Type.Object({ id: Type.String(), name: Type.String() });

/** REST shape: staff are names here, objects in the webhook envelope. */
export const Booking = Type.Object(
  {
    reference: Type.String({ description: "Unique key for upserts.", examples: ["SVC-7KQ2MX"] }),
    status: Type.String({ examples: [BOOKING_STATUS_CONFIRMED] }),
    createdAt: Timestamp,
    start: Timestamp,
    end: Timestamp,
    timeZone: Type.String({ description: "The visitor's time zone (IANA name).", examples: ["Europe/Berlin"] }),
    service: Service,
    staff: Type.Array(Type.String(), { description: "Staff names." }),
    customer: Customer,
    answers: Type.Array(Answer),
    attribution: Attribution,
    manageUrl: Type.Optional(
      Type.String({ description: "The external system's link to manage the booking, when available." }),
    ),
  },
  { title: "Booking" },
);
export type Booking = Static<typeof Booking>;

export const BookingPage = Type.Object(
  {
    data: Type.Array(Booking),
    nextCursor: Type.Union([Type.String(), Type.Null()], {
      description: "createdAt of the last booking on the page when more exist, else null. Send it back as cursor.",
    }),
  },
  { title: "BookingPage" },
);
export type BookingPage = Static<typeof BookingPage>;
