import type { OrganizationId } from "#contract/ids.ts";
import type { Db } from "../../db/pool.ts";
import { BOOKING_COLUMNS, type BookingRow } from "./queries.ts";

/** The next appointments, soonest first. Served by bookings_by_start. */
export async function listUpcoming(
  db: Db,
  owner: OrganizationId,
  { createdFrom, now, limit }: { createdFrom: Date; now: Date; limit: number },
): Promise<BookingRow[]> {
  return await db
    .selectFrom("bookings")
    .select(BOOKING_COLUMNS)
    .where("organization_id", "=", owner)
    .where("created_at", ">=", createdFrom)
    .where("start_at", ">=", now)
    .orderBy("start_at")
    .orderBy("reference")
    .limit(limit)
    .execute();
}
