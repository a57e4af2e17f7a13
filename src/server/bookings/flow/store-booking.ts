import type { Insertable } from "kysely";
import type { OrganizationId } from "#contract/ids.ts";
import type { Db } from "../../db/pool.ts";
import type { BookingsTable } from "../../db/tables.ts";
import type { Deps } from "../../deps.ts";
import { insertBooking, takeInstant } from "../stored/queries.ts";

export type NewBooking = Omit<Insertable<BookingsTable>, "organization_id" | "created_at" | "api_json">;

/**
 * Stores the copy of a booking and returns its createdAt. Call it last in the transaction: from here to the commit the
 * organization's other bookings wait, which keeps createdAt in commit order.
 */
export async function storeBooking(
  { clock }: Pick<Deps, "clock">,
  transaction: Db,
  { owner, booking }: { owner: OrganizationId; booking: NewBooking },
): Promise<Date> {
  const createdAt = await takeInstant(transaction, owner, { of: "bookings", clock });
  await insertBooking(transaction, { ...booking, organization_id: owner, created_at: createdAt });
  return createdAt;
}
