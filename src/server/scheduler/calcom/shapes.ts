import { type Static, type TSchema, Type } from "typebox";
import { Compile } from "typebox/compile";

// The parts of cal.com's replies that are read, per resource and version. Without its version header an older shape comes
// back with 200, and is then unreadable rather than misread.

export const VERSIONS = {
  me: "2024-06-14",
  eventTypes: "2024-06-14",
  slots: "2024-09-04",
  bookings: "2024-08-13",
} as const;

const maybe = <T extends TSchema>(type: T) => Type.Optional(Type.Union([type, Type.Null()]));

/** Each has members of its own, so nothing but what is read is looked at. */
const BookingField = Type.Object({
  type: Type.String(),
  slug: maybe(Type.String()),
  label: maybe(Type.String()),
  required: maybe(Type.Boolean()),
  hidden: maybe(Type.Boolean()),
  isDefault: maybe(Type.Boolean()),
  options: maybe(Type.Array(Type.String())),
});
export type BookingField = Static<typeof BookingField>;

const EventType = Type.Object({
  id: Type.Integer(),
  title: Type.String(),
  description: maybe(Type.String()),
  lengthInMinutes: Type.Number({ exclusiveMinimum: 0 }),
  bookingFields: Type.Array(BookingField),
  locations: maybe(Type.Array(Type.Object({ type: Type.String() }))),
  hidden: maybe(Type.Boolean()),
  /** `{ disabled: true }`, or when a person confirms. */
  confirmationPolicy: maybe(Type.Object({ disabled: Type.Optional(Type.Boolean()) })),
  bookingRequiresAuthentication: maybe(Type.Boolean()),
  recurrence: maybe(Type.Object({ disabled: Type.Optional(Type.Boolean()) })),
  seats: maybe(Type.Object({ disabled: Type.Optional(Type.Boolean()) })),
  seatsPerTimeSlot: maybe(Type.Number()),
  schedulingType: maybe(Type.String()),
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
    Type.Array(Type.Object({ id: Type.Union([Type.Integer(), Type.String()]), name: maybe(Type.String()) })),
  ),
  location: maybe(Type.Unknown()),
  metadata: maybe(Type.Record(Type.String(), Type.Unknown())),
});
export type Booking = Static<typeof Booking>;

const success = <T extends TSchema>(data: T) => Compile(Type.Object({ status: Type.Literal("success"), data }));

export const shapes = {
  me: success(
    Type.Object({ username: maybe(Type.String()), name: maybe(Type.String()), timeZone: maybe(Type.String()) }),
  ),
  eventTypes: success(Type.Array(EventType)),
  /** By day; empty when nothing is free. */
  slots: success(Type.Record(Type.String(), Type.Array(Type.Object({ start: Type.String(), end: Type.String() })))),
  booking: success(Booking),
  bookings: success(Type.Array(Booking)),
  error: Compile(Type.Object({ error: Type.Object({ code: maybe(Type.String()), message: maybe(Type.String()) }) })),
};
