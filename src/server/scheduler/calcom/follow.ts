import { MINUTE_MS } from "#contract/durations.ts";
import { parseIsoInstant } from "../../lib/time/iso-instant.ts";
import { toHttpsLink } from "../reply-limits.ts";
import {
  type Booked,
  type ChangedAppointments,
  type ChangedQuery,
  type Followed,
  found,
  type KnownAppointment,
  type Lookup,
  type Read,
  UNREADABLE,
  unavailable,
} from "../scheduling-system.ts";
import type { BookingsPage, BookingsRequest, CalcomApi } from "./api.ts";
import type { CalcomService } from "./catalog.ts";
import { type Booking, shapes } from "./shapes.ts";

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
function toManageUrl(webUrl: string, uid: string): string {
  return `${webUrl}/booking/${encodeURIComponent(uid)}`;
}

/** What is left is read the next time. */
const READS_MAX = 10;
/** A list that needs more never ends: its cursor repeats, or its bookings have no times. */
const READS_UNTIL_GIVEN_UP = 100;
/** A change may become visible later than its time says. */
const OVERLAP_MS = MINUTE_MS;

/** Moved and cancelled bookings are listed too. Bookings of a team are read from the team. */
export async function listChangedBookings(
  api: CalcomApi,
  query: ChangedQuery & { services: readonly Pick<CalcomService, "teamId">[] },
  signal: AbortSignal,
): Promise<Read<ChangedAppointments>> {
  const teamIds = new Set(query.services.flatMap(({ teamId }) => teamId ?? []));
  const known = new Map(query.known.map((appointment) => [appointment.externalId, appointment]));
  const changed = new Set<string>();
  const ends: { until: Date; isComplete: boolean }[] = [];
  for (const path of ["/bookings" as const, ...[...teamIds].map((id) => `/teams/${id}/bookings` as const)]) {
    const note = (booking: Booking): void => {
      const { uid, rescheduledFromUid: former } = booking;
      if (known.has(uid) && !isAsKnown(booking, known.get(uid))) changed.add(uid);
      // The former one may have been cancelled, and over, before another time was chosen.
      if (former && !known.has(uid)) changed.add(former);
    };
    const read = await readUpdated(api, { path, since: query.since, note }, signal);
    if (read.kind !== "found") return read;
    ends.push(read.value);
  }
  const unfinished = ends.filter(({ isComplete }) => !isComplete);
  const times = (unfinished.length > 0 ? unfinished : ends).map(({ until }) => until.getTime());
  const until = unfinished.length > 0 ? Math.min(...times) : Math.max(...times);
  return found({ externalIds: [...changed], until: new Date(until) });
}

/**
 * Notes the bookings that changed between `since` and `until`, and perhaps others. Most versions list them in the order of change: then
 * the next page begins at the last change, because a booking that changes meanwhile leaves its place on the pages before. The newest
 * version lists them in another order, so all of its pages are needed; if they are many, only those up to the middle one of the
 * changes are read. Only times are kept, because pages may be many and large.
 */
async function readUpdated(
  api: CalcomApi,
  { path, since, note }: Pick<BookingsRequest, "path"> & Pick<ChangedQuery, "since"> & { note: (one: Booking) => void },
  signal: AbortSignal,
): Promise<Read<{ until: Date; isComplete: boolean }>> {
  let times: Date[] = [];
  let [after, before] = [new Date(since.getTime() - OVERLAP_MS), null as Date | null];
  let next: BookingsPage["next"] = {};
  for (let [reads, readsInAll] = [1, 1]; readsInAll <= READS_UNTIL_GIVEN_UP; reads++, readsInAll++) {
    const range = { afterUpdatedAt: after.toISOString(), ...(before && { beforeUpdatedAt: before.toISOString() }) };
    const query = { ...range, sortUpdatedAt: "asc", ...next };
    const page = await api.listBookings({ path, query }, signal);
    if (page.kind !== "found") return page;
    const { bookings } = page.value;
    for (const booking of bookings) note(booking);
    next = page.value.next;
    times = [...times, ...listTimes(bookings).filter((time) => time > since)].sort((a, b) => a.getTime() - b.getTime());
    const until = times.at(-1) ?? since;
    if (next === null) return found({ until, isComplete: before === null });
    const isLong = reads >= READS_MAX;
    if (next["cursor"] === undefined) {
      // What is read next time begins before this.
      if (isLong && until.getTime() - OVERLAP_MS > since.getTime()) return found({ until, isComplete: false });
      const last = listTimes(bookings.slice(-1)).at(0);
      if (last !== undefined && last > after) [after, next] = [last, {}];
    } else if (isLong) {
      const middle = times[(times.length - 1) >> 1];
      if (middle !== undefined && middle < until) [times, before, next, reads] = [[], middle, {}, 0];
    }
  }
  return unavailable(UNREADABLE);
}

/** When these bookings changed. */
function listTimes(bookings: readonly Booking[]): Date[] {
  return bookings.flatMap(({ updatedAt }) => parseIsoInstant(updatedAt ?? "", "down") ?? []);
}

function isAsKnown({ status, start, end }: Booking, known: KnownAppointment | undefined): boolean {
  if (known === undefined || status === "cancelled" || status === "rejected") return known?.isCancelled ?? false;
  const isSame = (text: string, at: Date) => parseIsoInstant(text, "down")?.getTime() === at.getTime();
  return !known.isCancelled && isSame(start, known.startAt) && isSame(end, known.endAt);
}
