import { MINUTE_MS } from "#contract/durations.ts";
import { parseIsoInstant } from "../../lib/time/iso-instant.ts";
import { toHttpsLink } from "../https-link.ts";
import type { Booked, Lookup } from "../scheduling-system.ts";
import type { CalcomService } from "./catalog.ts";
import type { Booking } from "./shapes.ts";

/** The reply has no link to manage the booking, but its address is always the same. */
export function toBooked(
  context: { service: CalcomService; webUrl: string },
  booking: Booking,
  lookup: Lookup,
): Booked {
  const { offered } = context.service;
  const startAt = parseIsoInstant(booking.start, "down") ?? lookup.startAt;
  return {
    externalId: booking.uid,
    startAt,
    endAt: parseIsoInstant(booking.end, "down") ?? new Date(startAt.getTime() + offered.durationMinutes * MINUTE_MS),
    service: { id: offered.id, name: offered.name },
    staff: (booking.hosts ?? []).map(({ id, name }) => ({ id: String(id), name: name ?? "" })),
    manageUrl: toManageUrl(context.webUrl, booking.uid),
    // A location can also be a place, a phone number or the name of an app.
    joinUrl: toHttpsLink(booking.location),
  };
}

/** On the address in the connection's settings, which may be plain http on one's own machine. */
export function toManageUrl(webUrl: string, uid: string): string {
  return `${webUrl}/booking/${encodeURIComponent(uid)}`;
}
