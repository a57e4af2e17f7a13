import type { Booking } from "#contract/booking.ts";
import type { BookingRow } from "./queries.ts";

/** REST shape: staff as names, flat attribution, no external id and no join link. */
export function toBooking(row: BookingRow): Booking {
  return {
    ...toAppointment(row),
    customer: toCustomer(row),
    answers: row.answers,
    attribution: row.attribution,
    ...(row.manage_url === null ? {} : { manageUrl: row.manage_url }),
  };
}

/** The fields without customer data that the read API and the dashboard share. */
export function toAppointment(row: BookingRow) {
  return {
    reference: row.reference,
    status: row.status,
    createdAt: row.created_at.toISOString(),
    start: row.start_at.toISOString(),
    end: row.end_at.toISOString(),
    timeZone: row.time_zone,
    service: { id: row.service_id, name: row.service_name },
    staff: row.staff.map((member) => member.name),
  };
}

export function toCustomer(row: BookingRow): Booking["customer"] {
  return { name: row.customer_name, email: row.customer_email, phone: row.customer_phone, notes: row.customer_notes };
}
