import { assert } from "../../../src/server/lib/assert.ts";
import type { CalcomBooking } from "./calcom-server.ts";

// For tests: what happens in Cal.com's own pages, as seen on a real one.

/** The booking that stands for this reference now, moved or cancelled. */
export function findCalcomBooking(bookings: readonly CalcomBooking[], reference: string): CalcomBooking {
  const booking = bookings.findLast(({ metadata }) => metadata["reference"] === reference);
  assert(booking, `a booking with ${reference}`);
  return booking;
}

/** A booking that was made earlier. */
export function addCalcomBooking(
  bookings: CalcomBooking[],
  made: { reference: string; uid: string; startAt: Date; endAt: Date; updatedAt: Date },
): void {
  bookings.push({
    id: bookings.length + 1,
    uid: made.uid,
    status: "accepted",
    start: made.startAt.toISOString(),
    end: made.endAt.toISOString(),
    eventTypeId: 10,
    hosts: [{ id: 7, name: "Lindenhof Dental" }],
    attendees: [{ name: "Mara Quell", email: "mara.quell@example.com" }],
    location: "Lindenstrasse 1",
    bookingFieldsResponses: {},
    metadata: { reference: made.reference },
    updatedAt: made.updatedAt.toISOString(),
  });
}

/** Another booking with its own uid takes its place; the old one is cancelled and names it. */
export function moveCalcomBooking(bookings: CalcomBooking[], booking: CalcomBooking, startAt: Date): CalcomBooking {
  const lengthMs = Date.parse(booking.end) - Date.parse(booking.start);
  const id = bookings.length + 1;
  const moved: CalcomBooking = {
    ...booking,
    id,
    uid: `uid${id}`,
    status: "accepted",
    start: startAt.toISOString(),
    end: new Date(startAt.getTime() + lengthMs).toISOString(),
    rescheduledFromUid: booking.uid,
  };
  bookings.push(moved);
  booking.rescheduledToUid = moved.uid;
  cancelCalcomBooking(bookings, booking);
  moved.updatedAt = booking.updatedAt;
  return moved;
}

export function cancelCalcomBooking(bookings: readonly CalcomBooking[], booking: CalcomBooking): void {
  booking.status = "cancelled";
  booking.cancellationReason = "I am ill";
  // Later than every change before.
  const lastMs = Math.max(...bookings.map(({ updatedAt }) => Date.parse(updatedAt)));
  booking.updatedAt = new Date(lastMs + 1).toISOString();
}

/** In the order of change, moved and cancelled ones included. */
export function listUpdated(
  bookings: readonly CalcomBooking[],
  { afterUpdatedAt = "", take = "" }: Readonly<Record<string, string>>,
): CalcomBooking[] {
  return bookings
    .filter(({ updatedAt }) => Date.parse(updatedAt) >= Date.parse(afterUpdatedAt))
    .sort((a, b) => Date.parse(a.updatedAt) - Date.parse(b.updatedAt))
    .slice(0, Number(take));
}
