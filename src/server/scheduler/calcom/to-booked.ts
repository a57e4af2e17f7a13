import { MINUTE_MS } from "#contract/durations.ts";
import { parseIsoInstant } from "../../lib/iso-instant.ts";
import type { Booked, Sought } from "../scheduling-system.ts";
import type { CalcomService } from "./catalog.ts";
import type { Booking } from "./shapes.ts";

/** The page to manage a booking is not part of a reply, but always at the same place. */
export function toBooked(
  context: { service: CalcomService; webUrl: string },
  booking: Booking,
  sought: Sought,
): Booked {
  const { offered } = context.service;
  const startAt = parseIsoInstant(booking.start, "down") ?? sought.startAt;
  return {
    externalId: booking.uid,
    startAt,
    endAt: parseIsoInstant(booking.end, "down") ?? new Date(startAt.getTime() + offered.durationMinutes * MINUTE_MS),
    service: { id: offered.id, name: offered.name },
    staff: (booking.hosts ?? []).map(({ id, name }) => ({ id: String(id), name: name ?? "" })),
    manageUrl: `${context.webUrl}/booking/${encodeURIComponent(booking.uid)}`,
    joinUrl: toJoinUrl(booking.location),
  };
}

/** A location is also an address, a phone number, or the name of an app. */
function toJoinUrl(location: unknown): string | null {
  return typeof location === "string" && URL.parse(location)?.protocol === "https:" ? location : null;
}
