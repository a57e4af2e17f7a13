import { CompiledQuery, type Insertable, type Selectable, sql } from "kysely";
import type { OrganizationId, Reference, WidgetId } from "#contract/ids.ts";
import { atHomesOf, readAtHome, table, writeAtHome } from "../../db/home.ts";
import type { Db } from "../../db/pool.ts";
import { FixedText } from "../../db/run-prepared.ts";
import type { BookingsTable } from "../../db/tables.ts";
import { assert } from "../../lib/assert.ts";
import type { Clock } from "../../lib/time/clock.ts";
import { toRange } from "./page-queries.ts";
import { toApiJson } from "./to-api-json.ts";

export const BOOKING_COLUMNS = [
  "reference",
  "widget_id",
  "status",
  "created_at",
  "start_at",
  "end_at",
  "time_zone",
  "service_id",
  "service_name",
  "staff",
  "customer_name",
  "customer_email",
  "customer_phone",
  "customer_notes",
  "answers",
  "attribution",
  "external_id",
  "manage_url",
  "join_url",
  "is_test",
] as const;

export type BookingRow = Pick<Selectable<BookingsTable>, (typeof BOOKING_COLUMNS)[number]>;

export type BookingFilter = {
  /** Inclusive; retention and the caller's `since`, whichever is later. */
  createdFrom: Date;
  /** Exclusive. */
  createdBefore: Date | null;
  widgetId: WidgetId | null;
  limit: number;
};

/** Newest first, for the dashboard and exports. The read API's pages, and why none skips or repeats: page-queries.ts. */
export async function selectBookings(db: Db, owner: OrganizationId, filter: BookingFilter): Promise<BookingRow[]> {
  const { widgetId } = filter;
  const values = [owner, filter.createdFrom, filter.createdBefore ?? "infinity", filter.limit];
  const { rows } = await readAtHome(db, owner, (home) =>
    home.executeQuery<BookingRow>(
      widgetId === null
        ? CompiledQuery.raw(page.for(home), values)
        : CompiledQuery.raw(pageOfWidget.for(home), [...values, widgetId]),
    ),
  );
  return rows;
}

const toPage = (name: string, widget?: string) => {
  const { condition, newestFirst } = toRange({ owner: "$1", from: "$2", before: "$3" }, widget);
  return new FixedText(sql`${sql.raw(`-- prepared: ${name}\n`)}
  select ${sql.raw(BOOKING_COLUMNS.join(", "))} from ${table("bookings")}
  where ${sql.raw(condition)} order by ${sql.raw(newestFirst)} limit $4`);
};
const page = toPage("select_bookings");
const pageOfWidget = toPage("select_bookings_of_widget", "$5");

/** An instant that waited longer than this for the organization's clock is taken again. Usually it waits for less than one. */
const CLOCK_WAIT_MAX_MS = 10;

/** Clocks of an organization: the last instant that was given out, which is unique and in commit order. */
const CLOCKS = {
  bookings: toClockStatement("advance_clock", "booking_clocks", "last_created_at"),
  changes: toClockStatement("advance_change_clock", "change_clocks", "last_changed_at"),
} as const;

/**
 * The organization's next createdAt or changedAt: now, or one millisecond after the last. The row stays locked until the caller's
 * transaction ends, so a later one cannot become visible before an earlier one. If another transaction held the row, the time is
 * read again once it is ours: a caller may have read everything up to now meanwhile, and must not miss this one.
 */
export async function takeInstant(
  db: Db,
  owner: OrganizationId,
  { of, clock }: { of: keyof typeof CLOCKS; clock: Clock },
): Promise<Date> {
  const askedAt = clock.now();
  const instant = await advanceClock(db, owner, { of, now: askedAt });
  const lockedAt = clock.now();
  const hasWaited = lockedAt.getTime() - askedAt.getTime() > CLOCK_WAIT_MAX_MS;
  return hasWaited ? await advanceClock(db, owner, { of, now: lockedAt }) : instant;
}

async function advanceClock(
  db: Db,
  owner: OrganizationId,
  { of, now }: { of: keyof typeof CLOCKS; now: Date },
): Promise<Date> {
  const { rows } = await db.executeQuery<{ last: Date }>(CompiledQuery.raw(CLOCKS[of].for(db), [owner, now]));
  const row = rows[0];
  assert(row, "an upsert returns its row");
  return row.last;
}

function toClockStatement(name: string, clocks: "booking_clocks" | "change_clocks", column: string): FixedText {
  const last = sql.ref(column);
  return new FixedText(sql`${sql.raw(`-- prepared: ${name}\n`)}
    insert into ${table(clocks, "clock")} (organization_id, ${last}) values ($1, $2)
    on conflict (organization_id) do update
      set ${last} = greatest(excluded.${last}, clock.${last} + interval '1 millisecond')
    returning ${last} as last`);
}

/** False if the reference is already taken, by any organization. */
export async function reserveReference(db: Db, owner: OrganizationId, reference: Reference): Promise<boolean> {
  const statement = sql`-- prepared: reserve_reference
    insert into ${table("booking_references")} (reference, organization_id) values (${reference}, ${owner})
    on conflict (reference) do nothing returning reference`;
  const { rows } = await writeAtHome(db, reference, (home) => statement.execute(home));
  return rows.length === 1;
}

/** References are unique across organizations, so this statement names none. Also of bookings that were deleted. */
export async function findBookingOwner(db: Db, reference: Reference): Promise<OrganizationId | null> {
  const statement = sql<{ owner: OrganizationId }>`
    select organization_id as owner from ${table("booking_references")} where reference = ${reference}`;
  const { rows } = await readAtHome(db, reference, (home) => statement.execute(home));
  return rows[0]?.owner ?? null;
}

export async function freeReferences(db: Db, owner: OrganizationId, references: readonly Reference[]): Promise<void> {
  await atHomesOf(db, references, async ({ writer }, ofHome) => {
    await writer
      .deleteFrom("booking_references")
      .where("organization_id", "=", owner)
      .where("reference", "in", ofHome)
      .execute();
  });
}

const INSERTED_COLUMNS = ["organization_id", "lacks_event", "asked_in", "api_json", ...BOOKING_COLUMNS] as const;

/** Prepared: planning takes a quarter as long as running. */
export async function insertBooking(db: Db, row: Omit<Insertable<BookingsTable>, "api_json">): Promise<void> {
  const { lacks_event = false, is_test = false } = row;
  const inserted = { ...row, lacks_event, is_test, api_json: toApiJson(row) };
  await sql`-- prepared: insert_booking
    insert into ${table("bookings")} (${sql.join(INSERTED_COLUMNS.map((name) => sql.ref(name)))})
    values (${sql.join(INSERTED_COLUMNS.map((name) => sql`${inserted[name] ?? null}`))})`.execute(db);
}
