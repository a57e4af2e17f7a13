import type { Insertable, Selectable } from "kysely";
import { Attribution } from "#contract/analytics/attribution.ts";
import { AnonymousBooking, Answer, Booking } from "#contract/bookings/booking.ts";
import type { ImportedBooking } from "#contract/imported-lines.ts";
import { fromJson } from "../../db/statements/json-column.ts";
import type { BookingsTable } from "../../db/tables/tables.ts";
import { assert } from "../../lib/assert.ts";
import { shapeOf } from "../../lib/shape.ts";
import type { BookingRow } from "./queries.ts";

const shape = shapeOf(Booking);

type Name =
  | "reference"
  | "status"
  | "created_at"
  | "start_at"
  | "end_at"
  | "time_zone"
  | "service_id"
  | "service_name"
  | "staff"
  | "customer_name"
  | "customer_email"
  | "customer_phone"
  | "customer_notes"
  | "answers"
  | "attribution"
  | "manage_url";

/** A booking's columns, as they are written or as they are read back. */
type BookingColumns = Pick<Insertable<BookingsTable>, Name> | Pick<Selectable<BookingsTable>, Name>;

/**
 * A booking as the read API returns it, for the column api_json. Whatever stores or changes a booking writes it. What the contract
 * doesn't name is left out, and a booking that lacks something the contract promises can't be stored.
 */
export function toApiJson(row: BookingColumns): string {
  return JSON.stringify(toBooking(row));
}

/** A booking as an export writes it and `import bookings` reads it. */
export function toImportable(row: BookingRow): ImportedBooking {
  const id = row.external_id === null ? {} : { id: row.external_id };
  return { widgetId: row.widget_id, ...toBooking(row), ...id, joinUrl: row.join_url };
}

function toBooking(row: BookingColumns): Booking {
  const booking: Booking = {
    reference: row.reference,
    status: row.status,
    createdAt: row.created_at.toISOString(),
    start: row.start_at.toISOString(),
    end: row.end_at.toISOString(),
    timeZone: row.time_zone,
    service: { id: row.service_id, name: row.service_name },
    staff: fromJson(row.staff).map(({ name }) => name),
    customer: {
      name: row.customer_name,
      email: row.customer_email,
      phone: row.customer_phone ?? null,
      notes: row.customer_notes ?? null,
    },
    answers: fromJson(row.answers).map((answer) => pickNamed(Answer, answer)),
    attribution: pickNamed(Attribution, fromJson(row.attribution)),
    ...(row.manage_url ? { manageUrl: row.manage_url } : {}),
  };
  assert(shape.Check(booking), "a stored booking has every field of the contract");
  return booking;
}

export function pickNamed<T extends object>(schema: { properties: object }, value: T): T {
  // What is left out is not part of T.
  return Object.fromEntries(Object.entries(value).filter(([name]) => Object.hasOwn(schema.properties, name))) as T;
}

/** A page's bookings, JSON with commas between them, without everything about the customer. */
export function toAnonymous(bookings: string): string {
  const page = JSON.parse(`[${bookings}]`) as Booking[];
  return page.map((booking) => JSON.stringify(toAnonymousBooking(booking))).join(",");
}

function toAnonymousBooking(booking: Booking): AnonymousBooking {
  const attribution = pickNamed(AnonymousBooking.properties.attribution, booking.attribution);
  return { ...pickNamed(AnonymousBooking, booking), attribution };
}

/** The same booking, made at another time. */
export function withCreatedAt(apiJson: string, createdAt: Date): string {
  return JSON.stringify({ ...JSON.parse(apiJson), createdAt: createdAt.toISOString() });
}
