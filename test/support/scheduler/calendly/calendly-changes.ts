import { assert } from "../../../../src/server/lib/assert.ts";
import type { CalendlyBooking } from "./calendly-server.ts";

// For tests: what happens in Calendly's own pages.

/** The event that stands for this reference now, moved or cancelled. */
export function findCalendlyBooking(bookings: readonly CalendlyBooking[], reference: string): CalendlyBooking {
  const booking = bookings.findLast(({ tracking }) => tracking["utm_content"] === reference);
  assert(booking, "an event has the reference");
  return booking;
}

/** Another event takes its place; the old one is cancelled, and its invitee names the new one. */
export function moveCalendlyBooking(
  bookings: CalendlyBooking[],
  booking: CalendlyBooking,
  startAt: Date,
): CalendlyBooking {
  const lengthMs = Date.parse(booking.end_time) - Date.parse(booking.start_time);
  const toText = (ms: number) => new Date(ms).toISOString().replace("Z", "000Z");
  const moved: CalendlyBooking = {
    ...booking,
    uuid: `event-${bookings.length + 1}`,
    status: "active",
    start_time: toText(startAt.getTime()),
    end_time: toText(startAt.getTime() + lengthMs),
  };
  bookings.push(moved);
  booking.status = "canceled";
  booking.movedTo = moved.uuid;
  return moved;
}
