import type { BookingDetail, BookingSummary } from "#contract/app/bookings.ts";
import type { Attribution } from "#contract/attribution.ts";
import type { WidgetId } from "#contract/ids.ts";
import type { BookingRow } from "./queries.ts";
import { toAppointment, toCustomer } from "./to-booking.ts";

// Bookings as the dashboard shows them. Whoever may not see customers gets nothing that is about one: raw attribution may
// hold what a link said of its reader, and the links lead to the appointment itself.

type Reader = { seesCustomers: boolean; widgetNames: ReadonlyMap<WidgetId, string> };

export function toBookingSummary(row: BookingRow, reader: Reader): BookingSummary {
  return {
    ...toShared(row, reader),
    customer: reader.seesCustomers ? { name: row.customer_name, email: row.customer_email } : null,
    attribution: toClassified(row.attribution),
  };
}

export function toBookingDetail(row: BookingRow, reader: Reader): Omit<BookingDetail, "deliveries"> {
  const shared = toShared(row, reader);
  if (!reader.seesCustomers) {
    const unseen = { customer: null, answers: null, externalId: null, manageUrl: null, joinUrl: null };
    return { ...shared, ...unseen, attribution: toClassified(row.attribution) };
  }
  return {
    ...shared,
    customer: toCustomer(row),
    answers: row.answers,
    attribution: row.attribution,
    externalId: row.external_id,
    manageUrl: row.manage_url,
    joinUrl: row.join_url,
  };
}

function toShared(row: BookingRow, { widgetNames }: Reader) {
  return { ...toAppointment(row), widget: { id: row.widget_id, name: widgetNames.get(row.widget_id) ?? "" } };
}

/** Only those that the booking has: a key without a value is not sent. */
function toClassified({ source, medium, campaign, channel }: Attribution): BookingSummary["attribution"] {
  return {
    ...(source === undefined ? {} : { source }),
    ...(medium === undefined ? {} : { medium }),
    ...(campaign === undefined ? {} : { campaign }),
    ...(channel === undefined ? {} : { channel }),
  };
}
