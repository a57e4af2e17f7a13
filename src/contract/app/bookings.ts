import { type Static, Type } from "typebox";
import { Attribution } from "../analytics/attribution.ts";
import { Answer, Booking, Customer, Service } from "../bookings/booking.ts";
import { Change } from "../bookings/booking-changes.ts";
import { Timestamp } from "../timestamps.ts";
import { MODES } from "../widgets/widget.ts";
import { AppDelivery } from "./deliveries.ts";
import { NullableText, nullable, oneOf } from "./forms.ts";

// Stored bookings in the dashboard. Viewers get no customer data: `customer` and `answers` are null, `attribution` has the
// classified fields only, and the links to the appointment are missing.

const shared = {
  reference: Type.String(),
  status: Type.String(),
  /** The widget's mode when the booking was made. */
  mode: oneOf(MODES),
  createdAt: Timestamp,
  start: Timestamp,
  end: Timestamp,
  timeZone: Type.String(),
  widget: Type.Object({ id: Type.String(), name: Type.String() }),
  service: Service,
  staff: Booking.properties.staff,
};

/** By booking, newest or oldest first; by appointment, soonest or latest first. */
export const BOOKING_SORTS = ["newest", "oldest", "soonest", "latest"] as const;
export type BookingSort = (typeof BOOKING_SORTS)[number];

/** Whether the appointment has begun. */
export const APPOINTMENT_TIMES = ["upcoming", "past"] as const;
export type AppointmentTime = (typeof APPOINTMENT_TIMES)[number];

export const BookingSummary = Type.Object({
  ...shared,
  customer: nullable(Type.Pick(Customer, ["name", "email"])),
  attribution: Type.Pick(Attribution, ["source", "medium", "campaign", "channel"]),
});
export type BookingSummary = Static<typeof BookingSummary>;

export const BookingSummaryPage = Type.Object({
  data: Type.Array(BookingSummary),
  /** The position of the last booking on the page if there are more; send it back as `cursor`. */
  nextCursor: NullableText,
});
export type BookingSummaryPage = Static<typeof BookingSummaryPage>;

/** Bookings are counted up to this many. */
export const BOOKING_COUNT_MAX = 10_000;

export const BookingCount = Type.Object({ count: Type.Integer(), hasMore: Type.Boolean() });
export type BookingCount = Static<typeof BookingCount>;

export const BookingDetail = Type.Object({
  ...shared,
  customer: nullable(Customer),
  answers: nullable(Type.Array(Answer)),
  attribution: Attribution,
  /** The booking's ID in the scheduling system. */
  externalId: NullableText,
  manageUrl: NullableText,
  joinUrl: NullableText,
  /** What became of the appointment since, newest first. */
  changes: Type.Array(Change),
  /** Newest first. */
  deliveries: Type.Array(AppDelivery),
});
export type BookingDetail = Static<typeof BookingDetail>;

const outcome = {
  booked: Type.Integer(),
  cancelled: Type.Integer(),
  /** To another time at least once, whether or not it was cancelled later. */
  moved: Type.Integer(),
  /** Not cancelled. */
  kept: Type.Integer(),
};

/** More sources than people read. */
export const BOOKING_SOURCES_MAX = 100;

/** What became of stored bookings, by the source of the visitor. Test bookings are left out. */
export const BookingSources = Type.Object({
  all: Type.Object(outcome),
  /** Most bookings first. A booking without a source has an empty one. */
  sources: Type.Array(Type.Object({ source: Type.String(), ...outcome })),
  /** The sources beyond the list; null if there are none. */
  other: nullable(Type.Object(outcome)),
});
export type BookingSources = Static<typeof BookingSources>;

/** POST bookings/erase. With `dryRun`, bookings are only counted. */
export const EraseRequest = Type.Object({ email: Type.String(), dryRun: Type.Optional(Type.Boolean()) });
export type EraseRequest = Static<typeof EraseRequest>;

export const EraseResponse = Type.Object({ count: Type.Integer(), isErased: Type.Boolean() });
export type EraseResponse = Static<typeof EraseResponse>;
