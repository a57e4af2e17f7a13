import { sql } from "kysely";
import { BOOKING_SOURCES_MAX, type BookingSources } from "#contract/app/bookings.ts";
import { BOOKING_STATUS_CANCELLED } from "#contract/bookings/booking.ts";
import type { OrganizationId } from "#contract/ids.ts";
import type { Db } from "../../db/connections/pool.ts";
import { readAtHome, table } from "../../db/home.ts";
import { isListed, type ListFilter } from "./list/list-queries.ts";

type Outcome = BookingSources["all"];
type SourceRow = Omit<Outcome, "kept"> & { source: string | null };

/** Counts stored bookings by source, and what became of them, exactly: it reads all of the range. No search applies. */
export async function readSources(
  db: Db,
  owner: OrganizationId,
  filter: Omit<ListFilter, "limit">,
): Promise<BookingSources> {
  const statement = sql<SourceRow>`
    with counted as (
      select coalesce(attribution ->> 'source', '') as source, count(*) as booked,
        count(*) filter (where status = ${BOOKING_STATUS_CANCELLED}) as cancelled, count(moved.reference) as moved
      from ${table("bookings")}
      left join (
        select distinct reference from ${table("booking_changes")}
        where organization_id = ${owner} and type = 'rescheduled'
      ) moved using (reference)
      where ${isListed(owner, filter)} and not is_test
      group by 1
    ), ranked as (
      select source, booked, cancelled, moved, row_number() over (order by booked desc, source) as place from counted
    )
    select case when place <= ${BOOKING_SOURCES_MAX} then source end as source,
      sum(booked)::float8 as booked, sum(cancelled)::float8 as cancelled, sum(moved)::float8 as moved
    from ranked group by 1 order by min(place)`;
  const { rows } = await readAtHome(db, owner, (home) => statement.execute(home));
  const sources = rows.flatMap(({ source, ...row }) => (source === null ? [] : [{ source, ...toOutcome(row) }]));
  const other = rows.find(({ source }) => source === null);
  return {
    all: toOutcome({ booked: sum(rows, "booked"), cancelled: sum(rows, "cancelled"), moved: sum(rows, "moved") }),
    sources,
    other: other ? toOutcome(other) : null,
  };
}

function toOutcome({ booked, cancelled, moved }: Omit<Outcome, "kept">): Outcome {
  return { booked, cancelled, moved, kept: booked - cancelled };
}

function sum(rows: readonly SourceRow[], field: keyof Omit<SourceRow, "source">): number {
  return rows.reduce((total, row) => total + row[field], 0);
}
