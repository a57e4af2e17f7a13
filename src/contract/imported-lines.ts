import { type Static, Type } from "typebox";
import { STEPS } from "./analytics/steps.ts";
import { Booking } from "./bookings/booking.ts";
import { UUID_PATTERN } from "./ids.ts";

/**
 * A line of `import bookings`: the REST shape plus the widget's id. `id` (the booking's ID in the scheduling system) and
 * `joinUrl` are not in the REST shape; manageUrl, phone, notes and the lists may be missing.
 */
export const ImportedBooking = Type.Object({
  ...Type.Omit(Booking, ["status", "staff", "customer", "answers", "attribution"]).properties,
  // parseReference says what is wrong with it.
  reference: Type.String(),
  widgetId: Type.String(),
  status: Type.Optional(Booking.properties.status),
  staff: Type.Optional(Booking.properties.staff),
  customer: Type.Object({
    name: Type.String(),
    email: Type.String(),
    phone: Type.Optional(Type.Union([Type.String(), Type.Null()])),
    notes: Type.Optional(Type.Union([Type.String(), Type.Null()])),
  }),
  answers: Type.Optional(Booking.properties.answers),
  attribution: Type.Optional(Booking.properties.attribution),
  id: Type.Optional(Type.String()),
  joinUrl: Type.Optional(Type.Union([Type.String(), Type.Null()])),
});
export type ImportedBooking = Static<typeof ImportedBooking>;

const text = Type.Optional(Type.Union([Type.String(), Type.Null()]));

/**
 * A line of `import events`. `start` is the appointment and `service` its name, on booking_completed.
 * source, medium and campaign are treated like a link's tags; null means the same as a missing field. Other fields are ignored.
 */
export const ImportedEvent = Type.Object({
  widgetId: Type.String(),
  visitId: Type.String({ pattern: UUID_PATTERN }),
  step: Type.Enum([...STEPS]),
  at: Type.String(),
  page: text,
  source: text,
  medium: text,
  campaign: text,
  device: text,
  country: text,
  start: text,
  service: text,
});
export type ImportedEvent = Static<typeof ImportedEvent>;
