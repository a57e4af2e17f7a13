import { type RawBuilder, sql } from "kysely";
import type { BookingSort } from "#contract/app/bookings.ts";
import { BOOKING_STATUS_CANCELLED, type BookingStatus } from "#contract/bookings/booking.ts";
import type { OrganizationId, Reference, WidgetId } from "#contract/ids.ts";
import type { Db } from "../../../db/connections/pool.ts";
import { readAtHome, table } from "../../../db/home.ts";
import { BOOKING_COLUMNS, type BookingRow } from "../queries.ts";
import { toInstantText } from "./page-queries.ts";

// Lists of the dashboard and for exports. They are not prepared, so PostgreSQL plans each for its range: along bookings_by_start, along
// the order of booking, or along bookings_by_widget and sorted.

type BookingFilter = {
  /** Inclusive; retention and the caller's `since`, whichever is later. */
  createdFrom: Date;
  /** Exclusive. */
  createdBefore: Date | null;
  widgetId: WidgetId | null;
  limit: number;
};

/** About the appointment; null means any. Imported bookings may have other statuses. */
type AppointmentFilter = {
  startFrom: Date | null;
  startBefore: Date | null;
  status: BookingStatus | "not cancelled" | null;
};

/** The last booking of the page before; only sorts by appointment use it, the others set createdFrom or createdBefore. */
type StartPosition = { startAt: Date; reference: Reference };

export type ListFilter = BookingFilter & AppointmentFilter & { sort: BookingSort; after: StartPosition | null };

/** Whatever the appointment is. */
export const NEWEST_FIRST = { startFrom: null, startBefore: null, status: null, sort: "newest", after: null } as const;

const ORDERS: Record<BookingSort, RawBuilder<unknown>> = {
  newest: sql`created_at desc`,
  oldest: sql`created_at`,
  soonest: sql`start_at, reference`,
  latest: sql`start_at desc, reference desc`,
};

/** `condition` narrows the list further. */
export async function selectInOrder(
  db: Db,
  owner: OrganizationId,
  filter: ListFilter,
  condition: RawBuilder<unknown> = sql`true`,
): Promise<BookingRow[]> {
  const statement = sql<BookingRow>`
    select ${sql.join(BOOKING_COLUMNS.map((column) => sql.ref(column)))} from ${table("bookings")}
    where ${isListed(owner, filter)} and ${condition}
    order by ${ORDERS[filter.sort]} limit ${filter.limit}`;
  return (await readAtHome(db, owner, (home) => statement.execute(home))).rows;
}

/** Counts up to the filter's limit. */
export async function countInRange(db: Db, owner: OrganizationId, filter: ListFilter): Promise<number> {
  const statement = sql<{ count: number }>`
    select count(*) as count
    from (select from ${table("bookings")} where ${isListed(owner, filter)} limit ${filter.limit}) counted`;
  const { rows } = await readAtHome(db, owner, (home) => statement.execute(home));
  return rows[0]?.count ?? 0;
}

export function isListed(owner: OrganizationId, filter: Omit<ListFilter, "limit">): RawBuilder<unknown> {
  const { createdFrom, createdBefore, widgetId } = filter;
  return sql`organization_id = ${owner} and created_at >= ${toInstant(createdFrom)}
    ${createdBefore === null ? sql`` : sql`and created_at < ${toInstant(createdBefore)}`}
    ${widgetId === null ? sql`` : sql`and widget_id = ${widgetId}`}
    and ${matchesAppointment(filter)}`;
}

export function matchesAppointment({
  startFrom,
  startBefore,
  status,
  after,
  sort,
}: Omit<ListFilter, keyof BookingFilter>) {
  const conditions = [
    startFrom && sql`start_at >= ${toInstant(startFrom)}`,
    startBefore && sql`start_at < ${toInstant(startBefore)}`,
    status === "not cancelled" ? sql`status <> ${BOOKING_STATUS_CANCELLED}` : status && sql`status = ${status}`,
    after &&
      sql`(start_at, reference) ${sort === "latest" ? sql`<` : sql`>`} (${toInstant(after.startAt)}, ${after.reference})`,
  ].filter((each) => each !== null);
  return conditions.length === 0 ? sql`true` : sql.join(conditions, sql` and `);
}

function toInstant(instant: Date): RawBuilder<unknown> {
  return sql`${toInstantText(instant)}::timestamptz`;
}
