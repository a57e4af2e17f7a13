import { type Insertable, type Selectable, sql } from "kysely";
import type { OrganizationId, Reference } from "#contract/ids.ts";
import type { Db } from "../../db/connections/pool.ts";
import { atHomesOf, readAtHome, table, writeAtHome } from "../../db/home.ts";
import { FixedStatement } from "../../db/statements/run-prepared.ts";
import type { BookingsTable } from "../../db/tables/tables.ts";
import { assert } from "../../lib/assert.ts";
import type { Clock } from "../../lib/time/clock.ts";
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
  const [row] = await CLOCKS[of].run(db, { owner, now });
  assert(row, "an upsert returns its row");
  return row.last;
}

function toClockStatement(name: string, clocks: "booking_clocks" | "change_clocks", column: string) {
  const last = sql.ref(column);
  return new FixedStatement<{ last: Date }, { owner: OrganizationId; now: Date }>(
    ({ owner, now }) => sql`${sql.raw(`-- prepared: ${name}\n`)}
    insert into ${table(clocks, "clock")} (organization_id, ${last}) values (${owner}, ${now})
    on conflict (organization_id) do update
      set ${last} = greatest(excluded.${last}, clock.${last} + interval '1 millisecond')
    returning ${last} as last`,
  );
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

export async function insertBooking(db: Db, row: Omit<Insertable<BookingsTable>, "api_json">): Promise<void> {
  const { lacks_event = false, is_test = false } = row;
  const inserted = { ...row, lacks_event, is_test, api_json: toApiJson(row) };
  await sql`-- prepared: insert_booking
    insert into ${table("bookings")} (${sql.join(INSERTED_COLUMNS.map((name) => sql.ref(name)))})
    values (${sql.join(INSERTED_COLUMNS.map((name) => sql`${inserted[name] ?? null}`))})`.execute(db);
}

export type BookingWithoutEvent = BookingRow & Pick<Selectable<BookingsTable>, "organization_id">;

/** For the background task; `after` is the last row of the previous batch. */
export async function listBookingsWithoutEventAcrossOrganizations(
  home: Db,
  { after, limit }: { after: BookingWithoutEvent | null; limit: number },
): Promise<BookingWithoutEvent[]> {
  return await home
    .selectFrom("bookings")
    .select([...BOOKING_COLUMNS, "organization_id"])
    .where("lacks_event", "=", true)
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
