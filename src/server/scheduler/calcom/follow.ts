import { parseIsoInstant } from "../../lib/time/iso-instant.ts";
import { toHttpsLink } from "../https-link.ts";
import { type Followed, found, type Read, UNREADABLE, unavailable } from "../scheduling-system.ts";
import type { CalcomApi } from "./api.ts";
import { type Booking, shapes } from "./shapes.ts";
import { toManageUrl } from "./to-booked.ts";

/** A booking that is moved more often is given up. */
const MOVES_MAX = 20;

/**
 * A moved booking is cancelled, and another one with a new uid takes its place. Someone who was asked to choose another time has none
 * until then, so such a booking counts as cancelled meanwhile.
 */
export async function followBooking(
  { api, webUrl }: { api: CalcomApi; webUrl: string },
  externalId: string,
  signal: AbortSignal,
): Promise<Read<Followed>> {
  let uid = externalId;
  for (let moves = 0; moves <= MOVES_MAX; moves++) {
    const path = `/bookings/${encodeURIComponent(uid)}`;
    const read = await api.read({ resource: "booking", path }, shapes.booking, signal);
    if (read.kind !== "found") return read;
    const { data: booking } = read.value;
    if (!isOver(booking)) return toFollowed(booking, webUrl);
    if (!booking.rescheduledToUid) return found({ kind: "cancelled" });
    uid = booking.rescheduledToUid;
  }
  return unavailable(UNREADABLE);
}

function isOver({ status }: Booking): boolean {
  return status === "cancelled" || status === "rejected";
}

function toFollowed(booking: Booking, webUrl: string): Read<Followed> {
  const [startAt, endAt] = [parseIsoInstant(booking.start, "down"), parseIsoInstant(booking.end, "down")];
  if (startAt === null || endAt === null) return unavailable(UNREADABLE);
  const links = { manageUrl: toManageUrl(webUrl, booking.uid), joinUrl: toHttpsLink(booking.location) };
  return found({ kind: "confirmed", externalId: booking.uid, startAt, endAt, ...links });
}
