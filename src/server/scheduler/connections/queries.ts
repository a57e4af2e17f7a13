import { type Insertable, type Selectable, sql, type Updateable } from "kysely";
import type { ConnectionErrorCode } from "#contract/app/connections.ts";
import type { ConnectionId, OrganizationId } from "#contract/ids.ts";
import { LOOK_UPS_UNTIL_ABSENT } from "#contract/scheduling.ts";
import type { Db } from "../../db/connections/pool.ts";
import { readAtHome } from "../../db/home.ts";
import { runPrepared } from "../../db/statements/run-prepared.ts";
import type { SchedulingConnectionsTable } from "../../db/tables/tables.ts";

const COLUMNS = [
  "id",
  "organization_id",
  "kind",
  "name",
  "settings",
  "last_ok_at",
  "last_error",
  "last_error_at",
  "last_error_status",
  "last_error_request_id",
  "follows_changes",
  "subscription_id",
  "created_at",
  "updated_at",
] as const;

/** Without the sealed credentials, which lists don't need. */
export type ConnectionRow = Pick<Selectable<SchedulingConnectionsTable>, (typeof COLUMNS)[number]>;

export async function listConnections(db: Db, owner: OrganizationId): Promise<ConnectionRow[]> {
  return await db
    .selectFrom("scheduling_connections")
    .select(COLUMNS)
    .where("organization_id", "=", owner)
    .orderBy("created_at")
    .orderBy("id")
    .execute();
}

/** The public pages of the connections' systems. Connections without one are left out. */
export async function listBookingPages(db: Db, owner: OrganizationId): Promise<ReadonlyMap<ConnectionId, string>> {
  const rows = await readAtHome(db, owner, (home) =>
    home
      .selectFrom("scheduling_connections")
      .select(["id", "booking_url"])
      .where("organization_id", "=", owner)
      .execute(),
  );
  return new Map(rows.flatMap(({ id, booking_url }) => (booking_url === null ? [] : [[id, booking_url]])));
}

/** The connections whose page was read longest ago, and not since `readBefore`. */
export async function listConnectionsReadBeforeAcrossOrganizations(
  db: Db,
  { readBefore, limit }: { readBefore: Date; limit: number },
): Promise<{ owner: OrganizationId; id: ConnectionId }[]> {
  return await db
    .selectFrom("scheduling_connections")
    .select(["organization_id as owner", "id"])
    .where((row) => row.or([row("booking_url_read_at", "is", null), row("booking_url_read_at", "<", readBefore)]))
    .orderBy("booking_url_read_at", (order) => order.asc().nullsFirst())
    .limit(limit)
    .execute();
}

export async function findConnection(db: Db, owner: OrganizationId, id: ConnectionId): Promise<ConnectionRow | null> {
  const row = await db
    .selectFrom("scheduling_connections")
    .select(COLUMNS)
    .where("organization_id", "=", owner)
    .where("id", "=", id)
    .executeTakeFirst();
  return row ?? null;
}

/** Not scoped to an organization: an operator names a connection by its id only. */
export async function findConnectionOwner(db: Db, id: ConnectionId): Promise<OrganizationId | null> {
  const row = await db
    .selectFrom("scheduling_connections")
    .select("organization_id")
    .where("id", "=", id)
    .executeTakeFirst();
  return row?.organization_id ?? null;
}

export type SealedConnectionRow = Pick<
  Selectable<SchedulingConnectionsTable>,
  "id" | "kind" | "settings" | "credentials" | "updated_at"
>;

export async function findSealedConnection(
  db: Db,
  owner: OrganizationId,
  id: ConnectionId,
): Promise<SealedConnectionRow | null> {
  const statement = db
    .selectFrom("scheduling_connections")
    .select(["id", "kind", "settings", "credentials", "updated_at"])
    .where("organization_id", "=", owner)
    .where("id", "=", id);
  const [row] = await readAtHome(db, owner, (home) => runPrepared(home, "find_sealed_connection", statement));
  return row ?? null;
}

export async function insertConnection(
  db: Db,
  owner: OrganizationId,
  row: Omit<Insertable<SchedulingConnectionsTable>, "organization_id">,
): Promise<void> {
  await db
    .insertInto("scheduling_connections")
    .values({ ...row, organization_id: owner })
    .execute();
}

export async function updateConnection(
  db: Db,
  owner: OrganizationId,
  { id, change }: { id: ConnectionId; change: Updateable<SchedulingConnectionsTable> },
): Promise<void> {
  await db
    .updateTable("scheduling_connections")
    .set(change)
    .where("organization_id", "=", owner)
    .where("id", "=", id)
    .execute();
}

/** The connection, which cannot be deleted until the transaction ends. */
export async function holdConnection(
  transaction: Db,
  owner: OrganizationId,
  id: ConnectionId,
): Promise<Pick<ConnectionRow, "settings"> | null> {
  const row = await transaction
    .selectFrom("scheduling_connections")
    .select("settings")
    .where("organization_id", "=", owner)
    .where("id", "=", id)
    .forKeyShare()
    .executeTakeFirst();
  return row ?? null;
}

/** Locks the connection: until the transaction ends, it cannot be changed, deleted or given to a widget. */
export async function lockConnection(
  transaction: Db,
  owner: OrganizationId,
  id: ConnectionId,
): Promise<ConnectionRow | null> {
  const row = await transaction
    .selectFrom("scheduling_connections")
    .select(COLUMNS)
    .where("organization_id", "=", owner)
    .where("id", "=", id)
    .forUpdate()
    .executeTakeFirst();
  return row ?? null;
}

export async function isUsedByWidget(db: Db, owner: OrganizationId, id: ConnectionId): Promise<boolean> {
  const widget = await db
    .selectFrom("widgets")
    .select("id")
    .where("organization_id", "=", owner)
    .where("connection_id", "=", id)
    .limit(1)
    .executeTakeFirst();
  return widget !== undefined;
}

/**
 * Whether a booking made through this connection is not settled yet. If the system has not answered half an hour's look-ups, the business
 * may give up on it. Uses the partial index of such bookings.
 */
export async function hasUnsettledBooking(db: Db, owner: OrganizationId, id: ConnectionId): Promise<boolean> {
  const { rows } = await sql`
    select from pending_bookings
    where state = 'asking' and organization_id = ${owner} and asked_in = ${id} and look_ups < ${LOOK_UPS_UNTIL_ABSENT}
    limit 1`.execute(db);
  return rows.length > 0;
}

export async function deleteConnection(transaction: Db, owner: OrganizationId, id: ConnectionId): Promise<void> {
  await transaction
    .deleteFrom("scheduling_connections")
    .where("organization_id", "=", owner)
    .where("id", "=", id)
    .execute();
}

export async function recordConnectionOk(
  db: Db,
  owner: OrganizationId,
  { id, now }: { id: ConnectionId; now: Date },
): Promise<void> {
  await db
    .updateTable("scheduling_connections")
    .set({ last_ok_at: now })
    .where("organization_id", "=", owner)
    .where("id", "=", id)
    .execute();
}

/** Kept when the system works again; `last_ok_at` is then the later of the two. */
export async function recordConnectionError(
  db: Db,
  owner: OrganizationId,
  error: { id: ConnectionId; now: Date; word: ConnectionErrorCode; status: number | null; requestId: string | null },
): Promise<void> {
  await db
    .updateTable("scheduling_connections")
    .set({
      last_error: error.word,
      last_error_at: error.now,
      last_error_status: error.status,
      last_error_request_id: error.requestId,
    })
    .where("organization_id", "=", owner)
    .where("id", "=", error.id)
    .execute();
}

/** The number of widgets per connection. Connections without widgets are left out. */
export async function countWidgetsByConnection(
  db: Db,
  owner: OrganizationId,
): Promise<ReadonlyMap<ConnectionId, number>> {
  const rows = await db
    .selectFrom("widgets")
    .select(({ fn }) => ["connection_id", fn.countAll<number>().as("count")])
    .where("organization_id", "=", owner)
    .where("connection_id", "is not", null)
    .groupBy("connection_id")
    .execute();
  return new Map(rows.flatMap(({ connection_id, count }) => (connection_id === null ? [] : [[connection_id, count]])));
}
