import { type Static, type TSchema, Type } from "typebox";
import { shapeOf } from "../../lib/shape.ts";
import {
  DAY_SLOTS_MAX,
  DAYS_MAX,
  ID_LENGTH_MAX,
  LOCATIONS_MAX,
  OPTIONS_MAX,
  QUESTIONS_MAX,
  SERVICES_MAX,
  STAFF_MAX,
} from "../reply-limits.ts";

// The parts of Cal.com's replies that we read. Each resource has its own API version; a server that doesn't know a version
// silently answers in the oldest one, whose shape doesn't match and is then reported as unreadable.

export const FIXED_VERSIONS = {
  me: "2024-06-14",
  eventTypes: "2024-06-14",
  teams: "2024-08-13",
  slots: "2024-09-04",
  /** The same in all versions. */
  webhooks: "2024-08-13",
} as const;

/** `write`: create, cancel, and read one. */
export type BookingVersions = { readonly list: string; readonly write: string };

/** Lists bookings in the order of their ids, with a cursor; it ignores `take` and `skip`. */
export const CURSOR_VERSION = "2026-05-01";

/** Newest first. Cal.com's public source code of April 2026 knows the last one only. */
export const BOOKING_VERSIONS: readonly BookingVersions[] = [
  { list: CURSOR_VERSION, write: "2026-02-25" },
  { list: "2026-02-25", write: "2026-02-25" },
  { list: "2024-08-13", write: "2024-08-13" },
];

const maybe = <T extends TSchema>(type: T) => Type.Optional(Type.Union([type, Type.Null()]));

/** Cal.com's own limit is 250. */
const PAGE_BOOKINGS_MAX = 500;

/** Every type of field has its own members; these are the ones we read. */
const BookingField = Type.Object({
  type: Type.String(),
  slug: maybe(Type.String()),
  label: maybe(Type.String()),
  required: maybe(Type.Boolean()),
  hidden: maybe(Type.Boolean()),
  isDefault: maybe(Type.Boolean()),
  options: maybe(Type.Array(Type.String(), { maxItems: OPTIONS_MAX })),
  lastNameRequired: maybe(Type.Boolean()),
  /** For a field of type `unknown`: the field as JSON. */
  bookingField: maybe(Type.Unknown()),
});
export type BookingField = Static<typeof BookingField>;

/** A year. A much longer one would end on a date that doesn't exist. */
const LENGTH_MINUTES_MAX = 365 * 24 * 60;

const EventType = Type.Object({
  id: Type.Integer(),
  title: Type.String(),
  description: maybe(Type.String()),
  lengthInMinutes: Type.Number({ exclusiveMinimum: 0, maximum: LENGTH_MINUTES_MAX }),
  bookingFields: Type.Array(BookingField, { maxItems: QUESTIONS_MAX }),
  locations: maybe(Type.Array(Type.Object({ type: Type.String() }), { maxItems: LOCATIONS_MAX })),
  hidden: maybe(Type.Boolean()),
  price: maybe(Type.Number()),
  metadata: maybe(
    Type.Object({
      apps: maybe(
        Type.Record(
          Type.String(),
          Type.Object({
            enabled: maybe(Type.Boolean()),
            price: maybe(Type.Number()),
            paymentOption: maybe(Type.String()),
          }),
        ),
      ),
    }),
  ),
  /** `{ disabled: true }`, or the rule for when a person confirms. */
  confirmationPolicy: maybe(Type.Object({ disabled: Type.Optional(Type.Boolean()) })),
  requiresBookerEmailVerification: maybe(Type.Boolean()),
  recurrence: maybe(Type.Object({ disabled: Type.Optional(Type.Boolean()) })),
  seats: maybe(Type.Object({ disabled: Type.Optional(Type.Boolean()) })),
  seatsPerTimeSlot: maybe(Type.Number()),
  /** Only on event types of a team. */
  schedulingType: maybe(Type.String()),
  teamId: maybe(Type.Integer()),
  bookingUrl: maybe(Type.String()),
});
export type EventType = Static<typeof EventType>;

const Booking = Type.Object({
  uid: Type.String({ minLength: 1 }),
  status: Type.String(),
  start: Type.String(),
  end: Type.String(),
  eventTypeId: maybe(Type.Integer()),
  hosts: maybe(
    Type.Array(Type.Object({ id: Type.Union([Type.Integer(), Type.String()]), name: maybe(Type.String()) }), {
      maxItems: STAFF_MAX,
    }),
  ),
  location: maybe(Type.Unknown()),
  metadata: maybe(Type.Record(Type.String(), Type.Unknown())),
  /** The booking that a move has put in the place of this one. */
  rescheduledToUid: maybe(Type.String({ maxLength: ID_LENGTH_MAX })),
  rescheduledFromUid: maybe(Type.String({ maxLength: ID_LENGTH_MAX })),
  updatedAt: maybe(Type.String()),
});
export type Booking = Static<typeof Booking>;

const Webhook = Type.Object({
  id: Type.String({ minLength: 1 }),
  subscriberUrl: Type.String(),
  active: Type.Boolean(),
  triggers: Type.Array(Type.String()),
});

const success = <T extends TSchema>(data: T) => shapeOf(Type.Object({ status: Type.Literal("success"), data }));

export const shapes = {
  me: success(
    Type.Object({ username: maybe(Type.String()), name: maybe(Type.String()), timeZone: maybe(Type.String()) }),
  ),
  eventTypes: success(Type.Array(EventType, { maxItems: SERVICES_MAX })),
  eventType: success(EventType),
  eventTypeFields: success(Type.Pick(EventType, ["bookingFields"])),
  teams: success(Type.Array(Type.Object({ id: Type.Integer(), name: maybe(Type.String()) }))),
  /** By day; empty when nothing is free. */
  slots: success(
    Type.Record(
      Type.String(),
      Type.Array(Type.Object({ start: Type.String(), end: Type.String() }), { maxItems: DAY_SLOTS_MAX }),
      { maxProperties: DAYS_MAX },
    ),
  ),
  webhook: success(Webhook),
  webhooks: success(Type.Array(Webhook)),
  booking: success(Booking),
  bookings: shapeOf(
    Type.Object({
      status: Type.Literal("success"),
      data: Type.Array(Booking, { maxItems: PAGE_BOOKINGS_MAX }),
      pagination: maybe(Type.Object({ hasMore: maybe(Type.Boolean()), nextCursor: maybe(Type.String()) })),
    }),
  ),
  error: shapeOf(
    Type.Object({
      error: Type.Object({ code: maybe(Type.String()), message: maybe(Type.String()), details: maybe(Type.Unknown()) }),
    }),
  ),
  notice: shapeOf(
    Type.Object({
      triggerEvent: Type.String(),
      payload: Type.Object({ uid: maybe(Type.String()), rescheduleUid: maybe(Type.String()) }),
    }),
  ),
  /** A field that the API has no type for, as Cal.com stores it. */
  storedField: shapeOf(
    Type.Object({ name: Type.String(), required: maybe(Type.Boolean()), hidden: maybe(Type.Boolean()) }),
  ),
};
