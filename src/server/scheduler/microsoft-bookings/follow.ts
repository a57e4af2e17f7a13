import { MINUTE_MS } from "#contract/durations.ts";
import { findDifferent, toKnownRange } from "../compare-known.ts";
import { toHttpsLink } from "../reply-limits.ts";
import {
  type Booked,
  type ChangedAppointments,
  type Followed,
  found,
  type KnownAppointment,
  type Lookup,
  type Read,
  UNREADABLE,
  unavailable,
} from "../scheduling-system.ts";
import type { Catalog } from "./catalog.ts";
import type { Graph } from "./graph.ts";
import { toEnd, toStart } from "./graph-time.ts";
import { type Appointment, shapes } from "./shapes.ts";

/** A cancelled appointment is gone: 404. A moved one keeps its id. */
export async function followAppointment(graph: Graph, id: string, signal: AbortSignal): Promise<Read<Followed>> {
  const read = await graph.read(`/appointments/${encodeURIComponent(id)}`, shapes.appointment, signal);
  if (read.kind === "refused" && read.reason === "not_found") {
    // Not if the whole business is gone, or can't be seen any more.
    const business = await graph.read("", shapes.business, signal);
    return business.kind === "found" ? found({ kind: "cancelled" }) : business;
  }
  if (read.kind !== "found") return read;
  const [startAt, endAt] = [toStart(read.value), toEnd(read.value)];
  if (startAt === null || endAt === null) return unavailable(UNREADABLE);
  const joinUrl = toHttpsLink(read.value.anonymousJoinWebUrl) ?? toHttpsLink(read.value.joinWebUrl);
  return found({ kind: "confirmed", externalId: id, startAt, endAt, manageUrl: null, joinUrl });
}

export async function listDifferent(
  graph: Graph,
  { known, now }: { known: readonly KnownAppointment[]; now: Date },
  signal: AbortSignal,
): Promise<Read<ChangedAppointments>> {
  const range = toKnownRange(known, now);
  if (range === null) return found({ externalIds: [], until: null });
  const appointments = await graph.list(toCalendarPath(range), shapes.appointments, signal);
  if (appointments.kind !== "found") return appointments;
  const listed = appointments.value.map((appointment) => ({
    externalId: appointment.id,
    startAt: toStart(appointment),
    endAt: toEnd(appointment),
  }));
  return found({ externalIds: findDifferent(known, listed), until: null });
}

export function toCalendarPath({ from, to }: { from: Date; to: Date }): string {
  return `/calendarView?${new URLSearchParams({ start: from.toISOString(), end: to.toISOString() })}`;
}

/**
 * An appointment has no status: it is confirmed because it exists. There is no link to manage it, because appointments made
 * through Graph have a selfServiceAppointmentId of zeros. The customer's email has the link.
 */
export function toBooked(catalog: Catalog, appointment: Appointment, lookup: Lookup): Booked {
  const service = catalog.services.find(({ offered }) => offered.id === lookup.serviceId);
  const durationMs = (service?.offered.durationMinutes ?? 0) * MINUTE_MS;
  const startAt = toStart(appointment) ?? lookup.startAt;
  return {
    externalId: appointment.id,
    startAt,
    endAt: toEnd(appointment) ?? new Date(startAt.getTime() + durationMs),
    service: { id: lookup.serviceId, name: service?.offered.name ?? appointment.serviceName ?? "" },
    staff: (appointment.staffMemberIds ?? []).map((id) => ({
      id,
      name: catalog.staff.find((member) => member.id === id)?.name ?? "",
    })),
    manageUrl: null,
    joinUrl: toHttpsLink(appointment.anonymousJoinWebUrl) ?? toHttpsLink(appointment.joinWebUrl),
  };
}
