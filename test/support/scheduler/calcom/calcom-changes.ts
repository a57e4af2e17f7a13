import { assert } from "../../../../src/server/lib/assert.ts";
import type { CalcomBooking } from "./calcom-server.ts";

// For tests: what happens in Cal.com's own pages, as seen on a real one.

/** The booking that stands for this reference now, moved or cancelled. */
export function findCalcomBooking(bookings: readonly CalcomBooking[], reference: string): CalcomBooking {
  const booking = bookings.findLast(({ metadata }) => metadata["reference"] === reference);
  assert(booking, "a booking has the reference");
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

const PAGE_MAX = { cursor: 100, skip: 250 };

/**
 * `GET /v2/bookings` for changes. The newest version lists bookings in the order of their ids, has a cursor and drops `take` and
 * `skip`; the others list them in the order of change, and bookings with the same time in any order. Null: Cal.com would refuse it, or
 * understand something else.
 */
export function listUpdated(
  bookings: readonly CalcomBooking[],
  { query, hasCursor }: { query: Readonly<Record<string, string>>; hasCursor: boolean },
): { data: CalcomBooking[]; pagination: object } | null {
  const { afterUpdatedAt = "", beforeUpdatedAt, sortUpdatedAt, take, skip, limit, cursor, ...rest } = query;
  const size = Number(hasCursor ? limit : take);
  const isOfOther = hasCursor ? take !== undefined || skip !== undefined : limit !== undefined || cursor !== undefined;
  if (isOfOther || Object.keys(rest).length > 0 || sortUpdatedAt !== "asc") return null;
  if (!(size >= 1 && size <= PAGE_MAX[hasCursor ? "cursor" : "skip"])) return null;
  const until = beforeUpdatedAt === undefined ? Number.POSITIVE_INFINITY : Date.parse(beforeUpdatedAt);
  const found = bookings.filter(({ updatedAt }) => {
    const ms = Date.parse(updatedAt);
    return ms >= Date.parse(afterUpdatedAt) && ms <= until;
  });
  if (!hasCursor) {
    const sorted = found.toSorted((a, b) => Date.parse(a.updatedAt) - Date.parse(b.updatedAt));
    const data = sorted.slice(Number(skip ?? 0), Number(skip ?? 0) + size);
    // Cal.com counts the bookings of all times here.
    return { data, pagination: { totalItems: bookings.length, hasNextPage: size < bookings.length } };
  }
  const newestFirst = found.toSorted((a, b) => b.id - a.id);
  const left = cursor === undefined ? newestFirst : newestFirst.filter(({ id }) => id < Number(cursor));
  const data = left.slice(0, size);
  const hasMore = left.length > size;
  return { data, pagination: { hasMore, nextCursor: hasMore ? String(data.at(-1)?.id) : null } };
}
