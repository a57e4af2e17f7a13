import type { Attribution } from "#contract/analytics/attribution.ts";
import type { BookingDetail, BookingSummary } from "#contract/app/bookings.ts";
import type { WidgetId } from "#contract/ids.ts";
import type { Mode } from "#contract/widgets/widget.ts";
import type { BookingRow } from "../queries.ts";

// Bookings as the dashboard shows them. Members who may not see customers also get no raw attribution, which may identify a
// visitor, and no links, which open the appointment.

export type BookingReader = {
  seesCustomers: boolean;
  widgetNames: ReadonlyMap<WidgetId, string>;
};

export function toBookingSummary(row: BookingRow, reader: BookingReader): BookingSummary {
  return {
    ...toShared(row, reader),
    customer: reader.seesCustomers ? { name: row.customer_name, email: row.customer_email } : null,
    attribution: toClassified(row.attribution),
  };
}

export function toBookingDetail(row: BookingRow, reader: BookingReader): Omit<BookingDetail, "changes" | "deliveries"> {
  const shared = toShared(row, reader);
  if (!reader.seesCustomers) {
    const hidden = { customer: null, answers: null, externalId: null, manageUrl: null, joinUrl: null };
    return { ...shared, ...hidden, attribution: toClassified(row.attribution) };
  }
  return {
    ...shared,
    customer: {
      name: row.customer_name,
      email: row.customer_email,
      phone: row.customer_phone,
      notes: row.customer_notes,
    },
    answers: row.answers,
    attribution: row.attribution,
    externalId: row.external_id,
    manageUrl: row.manage_url,
    joinUrl: row.join_url,
  };
}

function toShared(row: BookingRow, { widgetNames }: BookingReader) {
  const mode: Mode = row.is_test ? "test" : "live";
  return {
    reference: row.reference,
    status: row.status,
    mode,
    createdAt: row.created_at.toISOString(),
    start: row.start_at.toISOString(),
    end: row.end_at.toISOString(),
    timeZone: row.time_zone,
    service: { id: row.service_id, name: row.service_name },
    staff: row.staff.map((member) => member.name),
    widget: { id: row.widget_id, name: widgetNames.get(row.widget_id) ?? "" },
  };
}

/** Omits absent fields. */
function toClassified({ source, medium, campaign, channel }: Attribution): BookingSummary["attribution"] {
  return {
    ...(source === undefined ? {} : { source }),
    ...(medium === undefined ? {} : { medium }),
    ...(campaign === undefined ? {} : { campaign }),
    ...(channel === undefined ? {} : { channel }),
  };
}
