import type { Insertable } from "kysely";
import type { OrganizationId } from "#contract/ids.ts";
import type { Db } from "../../db/pool.ts";
import type { BookingsTable } from "../../db/tables.ts";
import { insertNextBooking } from "../stored/queries.ts";

export type NewBooking = Omit<Insertable<BookingsTable>, "organization_id" | "created_at">;

/**
 * Stores the copy of a booking and returns its createdAt. Call it last in the transaction: from here to the commit the
 * organization's other bookings wait, which keeps createdAt in commit order.
 */
export async function storeBooking(
  transaction: Db,
  owner: OrganizationId,
  { booking, now }: { booking: NewBooking; now: Date },
): Promise<Date> {
  return await insertNextBooking(transaction, { ...booking, organization_id: owner }, now);
}
