import { sql } from "kysely";
import type { OrganizationId } from "#contract/ids.ts";
import type { Db } from "../../db/connections/pool.ts";
import type { ImportRow } from "./parse-import-line.ts";

// Statements of `import bookings`. They run in one transaction over a temporary table, so that a file is imported whole or
// not at all, and no row that a live booking needs is locked while the file is read.

/** No other advisory lock uses this number. */
const IMPORT_LOCK = 7_236_005;

export type LineFault = { line: number; fault: string };

const COLUMNS = sql`reference, widget_id, status, created_at, start_at, end_at, time_zone, service_id, service_name, staff,
  customer_name, customer_email, customer_phone, customer_notes, answers, attribution, external_id, manage_url, join_url, api_json`;

/** Only the columns that a line fills; the final insert leaves the others to their defaults. `read_at` is the line's createdAt. */
export async function createStaging(db: Db): Promise<void> {
  await sql`
    create temporary table staged_bookings on commit drop as
    select 0 as line, created_at as read_at, organization_id, ${COLUMNS} from bookings with no data`.execute(db);
}

export async function stageRows(
  db: Db,
  owner: OrganizationId,
  rows: readonly (ImportRow & { line: number })[],
): Promise<void> {
  await sql`
    insert into staged_bookings (organization_id, line, read_at, ${COLUMNS})
    select ${owner}, line, created_at, ${COLUMNS}
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as staged (line integer, reference text, widget_id text,
      status text, created_at timestamptz, start_at timestamptz, end_at timestamptz, time_zone text, service_id text,
      service_name text, staff jsonb, customer_name text, customer_email text, customer_phone text, customer_notes text,
      answers jsonb, attribution jsonb, external_id text, manage_url text, join_url text, api_json text)`.execute(db);
}

/** The following statements join with the staged rows, so the planner needs indexes and statistics. */
export async function analyzeStaging(db: Db): Promise<void> {
  await sql`create index on staged_bookings (reference)`.execute(db);
  await sql`create index on staged_bookings (line)`.execute(db);
  await sql`analyze staged_bookings`.execute(db);
}

/** On Citus, an organization's rows can't be seen for a moment while they move. Then nothing may be concluded from rows that are not there. */
export async function isVisible(db: Db, owner: OrganizationId): Promise<boolean> {
  return (await sql`select from visit_progress where organization_id = ${owner}`.execute(db)).rows.length === 1;
}

/** Imports into one organization take turns: neither sees the times and references that the other has not committed. */
export async function waitForOtherImports(db: Db, owner: OrganizationId): Promise<void> {
  await sql`select pg_advisory_xact_lock(${IMPORT_LOCK}, hashtext(${owner}))`.execute(db);
}

/** Runs before the check for faults, so that no other organization can take a reference in between. */
export async function reserveReferences(db: Db, owner: OrganizationId): Promise<void> {
  await sql`
    insert into booking_references (reference, organization_id)
    select reference, ${owner} from staged_bookings order by reference
    on conflict (reference) do nothing`.execute(db);
}

/** The first line with another organization's widget or reference, or with a reference that the file repeats. */
export async function findStagedFault(db: Db, owner: OrganizationId): Promise<LineFault | null> {
  const { rows } = await sql<LineFault>`
    select line, fault from (
      select line, 'widgetId is not a widget of this organization' as fault
      from staged_bookings staged
      where not exists (select from widgets where widgets.organization_id = ${owner} and widgets.id = staged.widget_id)
      union all
      select line, 'reference belongs to another organization''s booking'
      from staged_bookings join booking_references using (reference)
      where booking_references.organization_id <> ${owner}
      union all
      select line, 'reference already appears on line ' || first_line from (
        select line, min(line) over (partition by reference) as first_line from staged_bookings
      ) numbered where line > first_line
    ) faults order by line limit 1`.execute(db);
  return rows[0] ?? null;
}

/** Skips bookings whose references are in a table; returns how many. */
export async function dropStaged(
  db: Db,
  owner: OrganizationId,
  known: "bookings" | "booking_deletions",
): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    with dropped as (
      delete from staged_bookings staged using ${sql.table(known)} known
      where known.organization_id = ${owner} and known.reference = staged.reference
      returning staged.line
    ) select count(*) as count from dropped`.execute(db);
  return rows[0]?.count ?? 0;
}

/**
 * Moves staged rows whose createdAt is taken, by a stored booking or an earlier row, to the next free millisecond, in order of
 * createdAt and line. One statement handles any number of ties. It counts free milliseconds only: `free_place` is a time minus
 * one millisecond per stored booking before it. On that scale only staged rows compete, and row n gets the largest
 * `free_place + (n - i)` over all rows i up to n. Adding the stored bookings back in gives the time.
 */
export async function settleTies(db: Db, owner: OrganizationId): Promise<void> {
  await sql`
    with times as (
      select line, created_at from staged_bookings
      union all
      select null, created_at from bookings
      where organization_id = ${owner} and created_at >= (select min(created_at) from staged_bookings)
    ), counted as (
      select line, created_at, created_at - interval '1 millisecond' * count(*) filter (where line is null)
        over (order by created_at groups between unbounded preceding and 1 preceding) as free_place
      from times
    ), queued as (
      select line, free_place, row_number() over (order by created_at, line) as position
      from counted where line is not null
    ), placed as (
      select line, max(free_place - interval '1 millisecond' * position) over (order by position)
        + interval '1 millisecond' * position as free_place
      from queued
      union all
      select null, free_place from counted where line is null
    ), settled as (
      select line, free_place + interval '1 millisecond' * count(*) filter (where line is null)
        over (order by free_place) as created_at
      from placed
    )
    update staged_bookings staged set created_at = settled.created_at
    from settled where settled.line = staged.line and settled.created_at <> staged.created_at`.execute(db);
}

export async function newestStaged(db: Db): Promise<Date | null> {
  const { rows } = await sql<{ newest: Date | null }>`select max(created_at) as newest from staged_bookings`.execute(
    db,
  );
  return rows[0]?.newest ?? null;
}

/** Later bookings get a createdAt after this one. */
export async function advanceClock(db: Db, owner: OrganizationId, atLeast: Date): Promise<void> {
  await sql`
    insert into booking_clocks as clock (organization_id, last_created_at) values (${owner}, ${atLeast})
    on conflict (organization_id) do update
      set last_created_at = greatest(excluded.last_created_at, clock.last_created_at)`.execute(db);
}

export type MovedRow = { line: number; created_at: Date; api_json: string };

/** Rows after this line whose createdAt was moved, with the JSON of the line. */
export async function listMoved(
  db: Db,
  { afterLine, limit }: { afterLine: number; limit: number },
): Promise<MovedRow[]> {
  const { rows } = await sql<MovedRow>`
    select line, created_at, api_json from staged_bookings
    where line > ${afterLine} and created_at <> read_at order by line limit ${limit}`.execute(db);
  return rows;
}

export async function writeApiJson(db: Db, rows: readonly Pick<MovedRow, "line" | "api_json">[]): Promise<void> {
  await sql`
    update staged_bookings staged set api_json = moved.api_json
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as moved (line integer, api_json text)
    where staged.line = moved.line`.execute(db);
}

export async function insertStaged(db: Db): Promise<number> {
  const result = await sql`
    insert into bookings (organization_id, ${COLUMNS})
    select organization_id, ${COLUMNS} from staged_bookings order by created_at`.execute(db);
  return Number(result.numAffectedRows ?? 0n);
}
