import { type Insertable, type Selectable, sql } from "kysely";
import pg from "pg";
import type { OrganizationId, Reference, WidgetId } from "#contract/ids.ts";
import type { Db } from "../../db/connections/pool.ts";
import { findConstraint } from "../../db/engine.ts";
import { readAnywhere, readAtHome, table, writeAtHome } from "../../db/home.ts";
import { runPrepared } from "../../db/statements/run-prepared.ts";
import { inHome } from "../../db/statements/transactions.ts";
import type { SandboxAppointmentsTable } from "../../db/tables/test-mode-tables.ts";
import type { SandboxSetup } from "./setup.ts";

export type AppointmentRow = Selectable<SandboxAppointmentsTable>;

const APPOINTMENT_COLUMNS = [
  "organization_id",
  "widget_id",
  "reference",
  "id",
  "service_id",
  "staff_id",
  "start_at",
  "end_at",
  "manage_secret",
  "join_secret",
  "created_at",
  "canceled_at",
] as const;

/** With the organization's time zone, which the sandbox uses. Null before the first use. */
export async function findSandbox(
  db: Db,
  owner: OrganizationId,
  widgetId: WidgetId,
): Promise<{ setup: SandboxSetup; timeZone: string; businessName: string } | null> {
  const statement = db
    .selectFrom("sandboxes as s")
    .innerJoin("organizations as o", "o.id", "s.organization_id")
    .innerJoin("widgets as w", (join) =>
      join.onRef("w.organization_id", "=", "s.organization_id").onRef("w.id", "=", "s.widget_id"),
    )
    .select(["s.setup", "o.time_zone", "o.name", "w.business_name"])
    .where("s.organization_id", "=", owner)
    .where("s.widget_id", "=", widgetId);
  const [row] = await readAtHome(db, owner, (home) => runPrepared(home, "find_sandbox", statement));
  if (!row) return null;
  // Only values of this type are ever written.
  const setup = row.setup as SandboxSetup;
  return { setup, timeZone: row.time_zone ?? "UTC", businessName: row.business_name || row.name };
}

/** Does nothing if the widget already has a sandbox, so two first visitors create one. */
export async function insertSandbox(
  db: Db,
  owner: OrganizationId,
  row: { widgetId: WidgetId; setup: SandboxSetup; now: Date },
): Promise<void> {
  await writeAtHome(db, owner, (home) =>
    home
      .insertInto("sandboxes")
      .values({
        organization_id: owner,
        widget_id: row.widgetId,
        setup: JSON.stringify(row.setup),
        created_at: row.now,
      })
      .onConflict((conflict) => conflict.columns(["organization_id", "widget_id"]).doNothing())
      .execute(),
  );
}

export async function listTakenCells(
  db: Db,
  owner: OrganizationId,
  query: { widgetId: WidgetId; resources: readonly string[]; from: Date; to: Date },
): Promise<{ resource: string; cell_at: Date }[]> {
  const statement = db
    .selectFrom("sandbox_busy")
    .select(["resource", "cell_at"])
    .where("organization_id", "=", owner)
    .where("widget_id", "=", query.widgetId)
    .where(sql<boolean>`resource = any(${query.resources}::text[])`)
    .where("cell_at", ">=", query.from)
    .where("cell_at", "<", query.to);
  return await readAtHome(db, owner, (home) => runPrepared(home, "list_taken_cells", statement));
}

/**
 * An appointment and its time are stored together or not at all. The key of sandbox_busy decides between simultaneous
 * requests: all but the first wait for it and then fail. Cells are inserted in the key's order, so overlapping
 * appointments cannot deadlock.
 */
export async function insertAppointment(
  db: Db,
  owner: OrganizationId,
  appointment: {
    row: Omit<Insertable<SandboxAppointmentsTable>, "organization_id">;
    resources: readonly string[];
    cells: readonly Date[];
  },
): Promise<"made" | "taken" | "reference_used"> {
  const { row, resources, cells } = appointment;
  const values = { ...row, organization_id: owner };
  const statement = sql`-- prepared: insert_appointment
    with appointment as (
      insert into ${table("sandbox_appointments")} (${sql.join(APPOINTMENT_COLUMNS.map((name) => sql.ref(name)))})
      values (${sql.join(APPOINTMENT_COLUMNS.map((name) => sql`${values[name] ?? null}`))})
    )
    insert into ${table("sandbox_busy")} (organization_id, widget_id, resource, cell_at, reference)
    select ${owner}, ${row.widget_id}::text, resource, cell_at, ${row.reference}::text
    from unnest(${resources}::text[]) as resource, unnest(${cells}::timestamptz[]) as cell_at
    order by resource collate "C", cell_at`;
  try {
    await writeAtHome(db, owner, (home) => statement.execute(home));
    return "made";
  } catch (error) {
    if (isTakenTime(error)) return "taken";
    if (error instanceof pg.DatabaseError && error.code === UNIQUE_VIOLATION) return "reference_used";
    throw error;
  }
}

const UNIQUE_VIOLATION = "23505";

export async function findAppointment(
  db: Db,
  owner: OrganizationId,
  key: { widgetId: WidgetId; reference: Reference },
): Promise<AppointmentRow | null> {
  const row = await readAtHome(db, owner, (home) =>
    home
      .selectFrom("sandbox_appointments")
      .select(APPOINTMENT_COLUMNS)
      .where("organization_id", "=", owner)
      .where("widget_id", "=", key.widgetId)
      .where("reference", "=", key.reference)
      .executeTakeFirst(),
  );
  return row ?? null;
}

/** Without an owner: the bearer of a link knows only the widget. */
export async function findWidgetOwner(db: Db, widgetId: WidgetId): Promise<OrganizationId | null> {
  const row = await readAnywhere(db, (home) =>
    home.selectFrom("widgets").select("organization_id").where("id", "=", widgetId).executeTakeFirst(),
  );
  return row?.organization_id ?? null;
}

/** Gives the appointment another time and id. "taken" if someone else has that time; "gone" if it was cancelled. */
export async function moveAppointment(
  db: Db,
  owner: OrganizationId,
  moved: {
    row: Pick<AppointmentRow, "widget_id" | "reference" | "id" | "staff_id" | "start_at" | "end_at">;
    resources: readonly string[];
    cells: readonly Date[];
  },
): Promise<"moved" | "taken" | "gone"> {
  const { widget_id, reference, id, staff_id, start_at, end_at } = moved.row;
  const change = { id, staff_id, start_at, end_at };
  const key = { organization_id: owner, widget_id, reference };
  const busy = moved.resources
    .toSorted()
    .flatMap((resource) => moved.cells.map((cell_at) => ({ ...key, resource, cell_at })));
  try {
    return await inHome(db, owner, async (transaction) => {
      const { numUpdatedRows } = await transaction
        .updateTable("sandbox_appointments")
        .set(change)
        .where((row) => row.and(key))
        .where("canceled_at", "is", null)
        .executeTakeFirstOrThrow();
      if (numUpdatedRows === 0n) return "gone";
      await transaction
        .deleteFrom("sandbox_busy")
        .where((row) => row.and(key))
        .execute();
      await transaction.insertInto("sandbox_busy").values(busy).execute();
      return "moved";
    });
  } catch (error) {
    if (isTakenTime(error)) return "taken";
    throw error;
  }
}

function isTakenTime(error: unknown): boolean {
  return (
    error instanceof pg.DatabaseError &&
    error.code === UNIQUE_VIOLATION &&
    findConstraint(error) === "sandbox_busy_pkey"
  );
}

/** Frees the time. False if there is no such appointment or it was already cancelled. */
export async function cancelAppointment(
  db: Db,
  owner: OrganizationId,
  key: { widgetId: WidgetId; reference: Reference; now: Date },
): Promise<boolean> {
  const statement = sql`
    with canceled as (
      update ${table("sandbox_appointments")} set canceled_at = ${key.now}
      where organization_id = ${owner} and widget_id = ${key.widgetId} and reference = ${key.reference}
        and canceled_at is null
      returning reference
    ), freed as (
      delete from ${table("sandbox_busy", "b")} using canceled c
      where b.organization_id = ${owner} and b.widget_id = ${key.widgetId} and b.reference = c.reference
    )
    select reference from canceled`;
  const { rows } = await writeAtHome(db, owner, (home) => statement.execute(home));
  return rows.length === 1;
}

/** Deletes old appointments and their time. Returns how many; fewer than the limit means that none are left. */
export async function deleteEndedAppointments(
  db: Db,
  owner: OrganizationId,
  options: { endedBefore: Date; limit: number },
): Promise<number> {
  const statement = sql`
    delete from ${table("sandbox_appointments")} where organization_id = ${owner} and (widget_id, reference) in (
      select widget_id, reference from ${table("sandbox_appointments")}
      where organization_id = ${owner} and end_at < ${options.endedBefore}
      order by end_at limit ${options.limit}
    )`;
  const { numAffectedRows } = await writeAtHome(db, owner, (home) => statement.execute(home));
  return Number(numAffectedRows ?? 0n);
}
