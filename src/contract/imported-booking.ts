import { type Static, Type } from "typebox";
import { Booking } from "./booking.ts";

/**
 * A line of `import bookings`: the REST shape plus the widget's id. `id` (the booking's id in the external system) and
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
