import { type Selectable, sql } from "kysely";
import type { OrganizationId, Reference, WidgetId } from "#contract/ids.ts";
import type { Plan } from "#contract/plans.ts";
import type { Db } from "../../db/pool.ts";
import type { BookingsTable } from "../../db/tables.ts";
import { assert } from "../../lib/assert.ts";
import { BOOKING_COLUMNS, type BookingRow } from "../stored/queries.ts";

/** What a webhook event says beyond the booking itself. */
export type BookingContext = {
  organization_id: OrganizationId;
  organization_name: string;
  plan: Plan;
  widget_id: WidgetId;
  widget_name: string;
  business_name: string;
};

export async function findBookingContext(db: Db, owner: OrganizationId, widgetId: WidgetId): Promise<BookingContext> {
  const { rows } = await sql<BookingContext>`-- prepared: booking_context
    select organizations.id as organization_id, organizations.name as organization_name, organizations.plan,
      widgets.id as widget_id, widgets.name as widget_name, widgets.business_name
    from widgets join organizations on organizations.id = widgets.organization_id
    where widgets.organization_id = ${owner} and widgets.id = ${widgetId}`.execute(db);
  const [context] = rows;
  assert(context, "a booking is stored for a widget of its organization");
  return context;
}

export type BookingWithoutEvent = BookingRow & Pick<Selectable<BookingsTable>, "organization_id">;

/** Across all organizations, for the background task; `after` is the last row of the previous batch. */
export async function listBookingsWithoutEvent(
  db: Db,
  { after, limit }: { after: BookingWithoutEvent | null; limit: number },
): Promise<BookingWithoutEvent[]> {
  return await db
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
