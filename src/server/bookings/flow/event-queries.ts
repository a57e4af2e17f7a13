import { type Selectable, sql } from "kysely";
import type { OrganizationId, Reference } from "#contract/ids.ts";
import type { Db } from "../../db/pool.ts";
import type { BookingsTable } from "../../db/tables.ts";
import { BOOKING_COLUMNS, type BookingRow } from "../stored/queries.ts";

export type BookingWithoutEvent = BookingRow & Pick<Selectable<BookingsTable>, "organization_id">;

/** One shard group's bookings, for the background task; `after` is the last row of the previous batch. */
export async function listBookingsWithoutEvent(
  home: Db,
  { after, limit }: { after: BookingWithoutEvent | null; limit: number },
): Promise<BookingWithoutEvent[]> {
  return await home
    .selectFrom("bookings")
    .select([...BOOKING_COLUMNS, "organization_id"])
    // A literal: with a parameter, the partial index could not be used.
    .where("lacks_event", "=", sql.lit(true))
    .$if(after !== null, (query) =>
      query.where(sql<boolean>`(organization_id, created_at) > (${after?.organization_id}, ${after?.created_at})`),
    )
    .orderBy("organization_id")
    .orderBy("created_at")
    .limit(limit)
    .execute();
}

/** False if the booking already has its event or no longer exists. */
export async function markHasEvent(transaction: Db, owner: OrganizationId, reference: Reference): Promise<boolean> {
  const result = await transaction
    .updateTable("bookings")
    .set({ lacks_event: false })
    .where("organization_id", "=", owner)
    .where("reference", "=", reference)
    .where("lacks_event", "=", true)
    .executeTakeFirst();
  return result.numUpdatedRows === 1n;
}
