import { MINUTE_MS } from "#contract/durations.ts";
import { toHttpsLink } from "../https-link.ts";
import type { Booked, Lookup } from "../scheduling-system.ts";
import type { Catalog } from "./catalog.ts";
import { toEnd, toStart } from "./graph-time.ts";
import type { Appointment } from "./shapes.ts";

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
