import { MINUTE_MS } from "#contract/durations.ts";
import type { Booked, Sought } from "../scheduling-system.ts";
import type { Catalog } from "./catalog.ts";
import { toInstant } from "./graph-time.ts";
import type { Appointment } from "./shapes.ts";

/**
 * An appointment has no status: that it exists is the confirmation. There is no address at which it could be managed,
 * because an appointment that was made through Graph has only zeros for its selfServiceAppointmentId; the customer's mail
 * has a link.
 */
export function toBooked(catalog: Catalog, appointment: Appointment, sought: Sought): Booked {
  const service = catalog.services.find(({ offered }) => offered.id === sought.serviceId);
  const durationMs = (service?.offered.durationMinutes ?? 0) * MINUTE_MS;
  const startAt = toInstant(appointment.startDateTime) ?? sought.startAt;
  return {
    externalId: appointment.id,
    startAt,
    endAt: toInstant(appointment.endDateTime) ?? new Date(startAt.getTime() + durationMs),
    service: { id: sought.serviceId, name: service?.offered.name ?? appointment.serviceName ?? "" },
    staff: (appointment.staffMemberIds ?? []).map((id) => ({
      id,
      name: catalog.staff.find((member) => member.id === id)?.name ?? "",
    })),
    manageUrl: null,
    joinUrl: appointment.anonymousJoinWebUrl || appointment.joinWebUrl || null,
  };
}
