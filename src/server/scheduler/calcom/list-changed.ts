import { MINUTE_MS } from "#contract/durations.ts";
import { parseIsoInstant } from "../../lib/time/iso-instant.ts";
import {
  type ChangedAppointments,
  type ChangedQuery,
  found,
  type KnownAppointment,
  type Read,
} from "../scheduling-system.ts";
import type { CalcomApi } from "./api.ts";
import type { CalcomService } from "./catalog.ts";
import { type Booking, shapes } from "./shapes.ts";

// Bookings in the order in which they changed, moved and cancelled ones included. The number of items in `pagination` has been seen
// to be wrong, so items are counted.

const BOOKINGS_PER_READ = 100;
/** What is left comes the next time. */
const READS_MAX = 5;
/** A change may become visible later than its time says. */
const OVERLAP_MS = MINUTE_MS;

/** Bookings of a team are read from the team. */
export async function listChangedBookings(
  api: CalcomApi,
  query: ChangedQuery & { services: readonly Pick<CalcomService, "teamId">[] },
  signal: AbortSignal,
): Promise<Read<ChangedAppointments>> {
  const teamIds = new Set(query.services.flatMap(({ teamId }) => teamId ?? []));
  const known = new Map(query.known.map((appointment) => [appointment.externalId, appointment]));
  const changed = new Set<string>();
  const ends: { until: Date; isComplete: boolean }[] = [];
  for (const path of ["/bookings", ...[...teamIds].map((id) => `/teams/${id}/bookings`)]) {
    const read = await readUpdated(api, { path, since: query.since }, signal);
    if (read.kind !== "found") return read;
    for (const booking of read.value.bookings) {
      const { uid, rescheduledFromUid: former } = booking;
      if (known.has(uid) && !isAsKnown(booking, known.get(uid))) changed.add(uid);
      // The former one may have been cancelled, and over, before another time was chosen.
      if (former && !known.has(uid)) changed.add(former);
    }
    ends.push(read.value);
  }
  const unfinished = ends.filter(({ isComplete }) => !isComplete);
  const times = (unfinished.length > 0 ? unfinished : ends).map(({ until }) => until.getTime());
  const until = unfinished.length > 0 ? Math.min(...times) : Math.max(...times);
  return found({ externalIds: [...changed], until: new Date(until) });
}

async function readUpdated(
  api: CalcomApi,
  { path, since }: { path: string; since: Date },
  signal: AbortSignal,
): Promise<Read<{ bookings: Booking[]; until: Date; isComplete: boolean }>> {
  const bookings: Booking[] = [];
  let until = since;
  let afterUpdatedAt = new Date(since.getTime() - OVERLAP_MS);
  for (let reads = 0; reads < READS_MAX; reads++) {
    const query = {
      afterUpdatedAt: afterUpdatedAt.toISOString(),
      sortUpdatedAt: "asc",
      take: String(BOOKINGS_PER_READ),
    };
    const page = await api.read({ resource: "bookings", path, query }, shapes.bookings, signal);
    if (page.kind !== "found") return page;
    const { data } = page.value;
    bookings.push(...data);
    const last = parseIsoInstant(data.at(-1)?.updatedAt ?? "", "down");
    if (last !== null && last > until) until = last;
    // A page on which everything has one time can't be continued.
    if (data.length < BOOKINGS_PER_READ || last === null || last <= afterUpdatedAt)
      return found({ bookings, until, isComplete: true });
    afterUpdatedAt = last;
  }
  return found({ bookings, until, isComplete: false });
}

function isAsKnown({ status, start, end }: Booking, known: KnownAppointment | undefined): boolean {
  if (known === undefined || status === "cancelled" || status === "rejected") return known?.isCancelled ?? false;
  const isSame = (text: string, at: Date) => parseIsoInstant(text, "down")?.getTime() === at.getTime();
  return !known.isCancelled && isSame(start, known.startAt) && isSame(end, known.endAt);
}
