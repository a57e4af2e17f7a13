import { parseIsoInstant } from "../../lib/time/iso-instant.ts";
import { findDifferent } from "../compare-known.ts";
import { toHttpsLink } from "../reply-limits.ts";
import {
  type ChangedAppointments,
  type Followed,
  found,
  type KnownAppointment,
  type Read,
  type ToFollow,
  UNREADABLE,
  unavailable,
} from "../scheduling-system.ts";
import { type CalendlyApi, PAGE_SIZE, toUuid } from "./api.ts";
import { type Invitee, type ScheduledEvent, shapes } from "./shapes.ts";

/** An appointment that is moved more often is given up. */
const MOVES_MAX = 20;

/** A moved event is cancelled, and its invitee has become another event's invitee. */
export async function followEvent(
  api: CalendlyApi,
  { externalId, reference }: ToFollow,
  signal: AbortSignal,
): Promise<Read<Followed>> {
  let uuid = externalId;
  for (let moves = 0; moves <= MOVES_MAX; moves++) {
    const path = `/scheduled_events/${encodeURIComponent(uuid)}`;
    const event = await api.read(path, shapes.scheduledEvent, signal);
    if (event.kind !== "found") return event;
    const invitees = await api.list({ path: `${path}/invitees`, query: PAGE_SIZE }, shapes.invitees, signal);
    if (invitees.kind !== "found") return invitees;
    // Moved by the customer, an invitee keeps the tracking fields; moved by the business, perhaps not. There is one invitee.
    const { value: listed } = invitees;
    const invitee = listed.find(({ tracking }) => tracking?.utm_content === reference) ?? listed[0];
    if (event.value.status !== "canceled") return toFollowed({ uuid, event: event.value, invitee });
    const next = invitee?.rescheduled ? toEventUuid(invitee.new_invitee) : null;
    if (next === null) return found({ kind: "cancelled" });
    uuid = next;
  }
  return unavailable(UNREADABLE);
}

function toFollowed(moved: { uuid: string; event: ScheduledEvent; invitee: Invitee | undefined }): Read<Followed> {
  const { uuid, event, invitee } = moved;
  const [startAt, endAt] = [parseIsoInstant(event.start_time, "down"), parseIsoInstant(event.end_time, "down")];
  if (startAt === null || endAt === null) return unavailable(UNREADABLE);
  const manageUrl = toHttpsLink(invitee?.reschedule_url) ?? toHttpsLink(invitee?.cancel_url);
  return found({
    kind: "confirmed",
    externalId: uuid,
    startAt,
    endAt,
    manageUrl,
    joinUrl: toHttpsLink(event.location?.join_url),
  });
}

/** `https://api.calendly.com/scheduled_events/{event}/invitees/{invitee}` */
export function toEventUuid(invitee: string | null | undefined): string | null {
  return /\/scheduled_events\/([^/]+)\/invitees\//.exec(invitee ?? "")?.[1] ?? null;
}

/** Events of a colleague aren't listed, and are then read one by one. */
export async function listDifferent(
  api: CalendlyApi,
  { known, userUri, from, to }: { known: readonly KnownAppointment[]; userUri: string; from: Date; to: Date },
  signal: AbortSignal,
): Promise<Read<ChangedAppointments>> {
  const range = { min_start_time: from.toISOString(), max_start_time: to.toISOString() };
  const query = { user: userUri, ...range, status: "active", ...PAGE_SIZE };
  const events = await api.list({ path: "/scheduled_events", query }, shapes.scheduledEvents, signal);
  if (events.kind !== "found") return events;
  const listed = events.value.map(({ uri, start_time, end_time }) => ({
    externalId: toUuid(uri),
    startAt: parseIsoInstant(start_time, "down"),
    endAt: parseIsoInstant(end_time, "down"),
  }));
  return found({ externalIds: findDifferent(known, listed), until: null });
}
