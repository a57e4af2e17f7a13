import { sql } from "kysely";
import type { Change } from "#contract/bookings/booking-changes.ts";
import type { OrganizationId, Reference } from "#contract/ids.ts";
import type { Db } from "../../db/connections/pool.ts";
import { readAtHome, table } from "../../db/home.ts";
import type { Clock } from "../../lib/time/clock.ts";
import { BOOKING_COLUMNS, type BookingRow, takeInstant } from "../stored/queries.ts";
import { toApiJson } from "../stored/to-api-json.ts";

// Changes of stored bookings. changedAt is unique within an organization and in commit order, like a booking's createdAt, so the
// same paging and the same `since` work. Deleting a booking deletes its changes.

type ChangingBooking = BookingRow & { lacks_event: boolean };

/** Until the transaction ends, the booking cannot be changed or deleted. */
export async function lockForChange(
  transaction: Db,
  owner: OrganizationId,
  reference: Reference,
): Promise<ChangingBooking | null> {
  const row = await transaction
    .selectFrom("bookings")
    .select([...BOOKING_COLUMNS, "lacks_event"])
    .where("organization_id", "=", owner)
    .where("reference", "=", reference)
    .forUpdate()
    .executeTakeFirst();
  return row ?? null;
}

export async function updateBooking(transaction: Db, owner: OrganizationId, row: BookingRow): Promise<void> {
  const { reference, status, start_at, end_at, external_id, manage_url, join_url } = row;
  await transaction
    .updateTable("bookings")
    .set({ status, start_at, end_at, external_id, manage_url, join_url, api_json: toApiJson(row) })
    .where("organization_id", "=", owner)
    .where("reference", "=", reference)
    .execute();
}

/** Call it last in the transaction: from here to the commit the organization's other changes wait. */
export async function recordChange(
  transaction: Db,
  owner: OrganizationId,
  { change, clock }: { change: Pick<Change, "type"> & { before: BookingRow; after: BookingRow }; clock: Clock },
): Promise<void> {
  const { type, before, after } = change;
  const changedAt = await takeInstant(transaction, owner, { of: "changes", clock });
  await transaction
    .insertInto("booking_changes")
    .values({
      organization_id: owner,
      changed_at: changedAt,
      reference: after.reference,
      type,
      status: after.status,
      start_at: after.start_at,
      end_at: after.end_at,
      previous_start_at: before.start_at,
    })
    .execute();
}

type ChangeRow = Omit<Change, "start" | "end" | "previousStart" | "changedAt"> &
  Record<"start" | "end" | "previousStart" | "changedAt", Date>;

const COLUMNS = sql`reference, type, status, start_at as "start", end_at as "end", previous_start_at as "previousStart",
  changed_at as "changedAt"`;

/** Newest first. `from` is inclusive, `before` exclusive. */
export async function listChanges(
  db: Db,
  owner: OrganizationId,
  { from, before, limit }: { from: Date; before: Date | null; limit: number },
): Promise<Change[]> {
  const statement = sql<ChangeRow>`
    select ${COLUMNS} from ${table("booking_changes")}
    where organization_id = ${owner} and changed_at >= ${from} and changed_at < ${before ?? "infinity"}::timestamptz
    order by changed_at desc limit ${limit}`;
  const { rows } = await readAtHome(db, owner, (home) => statement.execute(home));
  return rows.map(toChange);
}

/** More than a person reads. */
const SHOWN_MAX = 100;

/** The changes of one booking, newest first. */
export async function listChangesOf(db: Db, owner: OrganizationId, reference: Reference): Promise<Change[]> {
  const statement = sql<ChangeRow>`
    select ${COLUMNS} from ${table("booking_changes")} where organization_id = ${owner} and reference = ${reference}
    order by changed_at desc limit ${SHOWN_MAX}`;
  const { rows } = await readAtHome(db, owner, (home) => statement.execute(home));
  return rows.map(toChange);
}

function toChange({ start, end, previousStart, changedAt, ...row }: ChangeRow): Change {
  return {
    ...row,
    start: start.toISOString(),
    end: end.toISOString(),
    previousStart: previousStart.toISOString(),
    changedAt: changedAt.toISOString(),
  };
}
