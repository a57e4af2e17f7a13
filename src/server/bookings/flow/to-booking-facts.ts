import { fromJson } from "../../db/json-column.ts";
import type { BookingFacts } from "../../webhooks/webhooks.ts";
import type { BookingRow } from "../stored/queries.ts";
import type { NewBooking } from "./store-booking.ts";

export function toBookingFacts(booking: NewBooking | BookingRow): BookingFacts {
  return {
    reference: booking.reference,
    externalId: booking.external_id ?? null,
    status: booking.status,
    startAt: booking.start_at,
    endAt: booking.end_at,
    timeZone: booking.time_zone,
    service: { id: booking.service_id, name: booking.service_name },
    staff: fromJson(booking.staff),
    customer: {
      name: booking.customer_name,
      email: booking.customer_email,
      phone: booking.customer_phone ?? null,
      notes: booking.customer_notes ?? null,
    },
    answers: fromJson(booking.answers),
    attribution: fromJson(booking.attribution),
    manageUrl: booking.manage_url ?? null,
    joinUrl: booking.join_url ?? null,
    isTest: booking.is_test ?? false,
    widgetId: booking.widget_id,
  };
}
