import type { OrganizationId, Reference } from "#contract/ids.ts";
import type { Db } from "../../db/pool.ts";
import { BOOKING_COLUMNS, type BookingFilter, type BookingRow, selectBookings } from "./queries.ts";
import { searchBookings } from "./search-queries.ts";
import type { SearchedPart } from "./search-terms.ts";

export type AppBookingFilter = BookingFilter & { search: string | null; parts: readonly SearchedPart[] };

/** Newest first; only matching bookings if there is a search text. */
export async function listBookings(db: Db, owner: OrganizationId, filter: AppBookingFilter): Promise<BookingRow[]> {
  const { search } = filter;
  return search === null
    ? await selectBookings(db, owner, filter)
    : await searchBookings(db, owner, { ...filter, search });
}

export async function findBooking(
  db: Db,
  owner: OrganizationId,
  { reference, createdFrom }: { reference: Reference; createdFrom: Date },
): Promise<BookingRow | null> {
  const row = await db
    .selectFrom("bookings")
    .select(BOOKING_COLUMNS)
    .where("organization_id", "=", owner)
    .where("reference", "=", reference)
    .where("created_at", ">=", createdFrom)
    .executeTakeFirst();
  return row ?? null;
}
