import { sql } from "kysely";
import type { OrganizationId } from "#contract/ids.ts";
import type { Db } from "../db/pool.ts";
import type { ImportRow } from "./parse-import-line.ts";

// Statements of `import bookings`. They run in one transaction over a temporary table, so that a file is imported as a
// whole or not at all, and no row that a live booking needs is locked while the file is read.

/** A line of the file that cannot be imported. */
export type LineFault = { line: number; fault: string };

export async function createStaging(db: Db): Promise<void> {
  await sql`
    create temporary table staged_bookings (
      like bookings,
      line integer not null
    ) on commit drop`.execute(db);
  // What bookings require of these two comes with the final insert.
  await sql`alter table staged_bookings drop column customer_email_key`.execute(db);
}

export async function stageRows(
  db: Db,
  owner: OrganizationId,
  rows: readonly (ImportRow & { line: number })[],
): Promise<void> {
  await sql`
    insert into staged_bookings (organization_id, line, reference, widget_id, status, created_at, start_at, end_at,
      time_zone, service_id, service_name, staff, customer_name, customer_email, customer_phone, customer_notes, answers,
      attribution, external_id, manage_url, join_url)
    select ${owner}, line, reference, widget_id, status, created_at, start_at, end_at,
      time_zone, service_id, service_name, staff, customer_name, customer_email, customer_phone, customer_notes, answers,
      attribution, external_id, manage_url, join_url
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as staged (line integer, reference text, widget_id text,
      status text, created_at timestamptz, start_at timestamptz, end_at timestamptz, time_zone text, service_id text,
      service_name text, staff jsonb, customer_name text, customer_email text, customer_phone text, customer_notes text,
      answers jsonb, attribution jsonb, external_id text, manage_url text, join_url text)`.execute(db);
}

/** Gives the planner the truth about the staged rows, which the statements after it join with. */
export async function analyzeStaging(db: Db): Promise<void> {
  await sql`create index on staged_bookings (reference)`.execute(db);
  await sql`analyze staged_bookings`.execute(db);
}

/** The first line whose widget is not the organization's, or whose reference is another's or stands twice in the file. */
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
      select line, 'reference stands already in line ' || first_line from (
        select line, min(line) over (partition by reference) as first_line from staged_bookings
      ) numbered where line > first_line
    ) faults order by line limit 1`.execute(db);
  return rows[0] ?? null;
}

/** Bookings that are there already stay as they are. Returns how many those were. */
export async function dropKnownBookings(db: Db, owner: OrganizationId): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    with known as (
      delete from staged_bookings staged using bookings
      where bookings.organization_id = ${owner} and bookings.reference = staged.reference
      returning staged.line
    ) select count(*) as count from known`.execute(db);
  return rows[0]?.count ?? 0;
}

/**
 * Makes createdAt strictly increasing over the staged rows by moving ties up a millisecond at a time: the n-th row gets the
 * largest, over the rows up to it, of their time plus their distance to it.
 */
export async function spreadTies(db: Db): Promise<void> {
  await sql`
    with ordered as (
      select line, created_at, row_number() over (order by created_at, line) as position from staged_bookings
    ), spread as (
      select line,
        max(created_at - position * interval '1 millisecond') over (order by position)
          + position * interval '1 millisecond' as created_at
      from ordered
    )
    update staged_bookings staged set created_at = spread.created_at
    from spread where spread.line = staged.line and spread.created_at <> staged.created_at`.execute(db);
}

/**
 * Moves staged rows that share their createdAt with a stored booking behind the unbroken run of milliseconds that booking
 * stands in. Returns how many it moved.
 */
export async function moveOffStored(db: Db, owner: OrganizationId): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    with stored as (
      select created_at, created_at - row_number() over (order by created_at) * interval '1 millisecond' as run
      from bookings
      where organization_id = ${owner} and created_at >= (select min(created_at) from staged_bookings)
    ), runs as (
      select created_at, max(created_at) over (partition by run) as run_end from stored
    ), moved as (
      update staged_bookings staged set created_at = runs.run_end + interval '1 millisecond'
      from runs where runs.created_at = staged.created_at
      returning staged.line
    ) select count(*) as count from moved`.execute(db);
  return rows[0]?.count ?? 0;
}

export async function newestStaged(db: Db): Promise<Date | null> {
  const { rows } = await sql<{ newest: Date | null }>`select max(created_at) as newest from staged_bookings`.execute(
    db,
  );
  return rows[0]?.newest ?? null;
}

/** From here on no booking gets a createdAt up to this one. */
export async function advanceClock(db: Db, owner: OrganizationId, atLeast: Date): Promise<void> {
  await sql`
    insert into booking_clocks as clock (organization_id, last_created_at) values (${owner}, ${atLeast})
    on conflict (organization_id) do update
      set last_created_at = greatest(excluded.last_created_at, clock.last_created_at)`.execute(db);
}

export async function insertStaged(db: Db, owner: OrganizationId): Promise<number> {
  await sql`
    insert into booking_references (reference, organization_id)
    select reference, ${owner} from staged_bookings
    on conflict (reference) do nothing`.execute(db);
  const result = await sql`
    insert into bookings (organization_id, reference, widget_id, status, created_at, start_at, end_at, time_zone,
      service_id, service_name, staff, customer_name, customer_email, customer_phone, customer_notes, answers,
      attribution, external_id, manage_url, join_url)
    select organization_id, reference, widget_id, status, created_at, start_at, end_at, time_zone,
      service_id, service_name, staff, customer_name, customer_email, customer_phone, customer_notes, answers,
      attribution, external_id, manage_url, join_url
    from staged_bookings order by created_at`.execute(db);
  return Number(result.numAffectedRows ?? 0n);
}
