import { type RawBuilder, sql } from "kysely";
import type { OrganizationId } from "#contract/ids.ts";
import type { Db } from "../../../db/connections/pool.ts";
import { readAtHome, table } from "../../../db/home.ts";
import { assert } from "../../../lib/assert.ts";
import { BOOKING_COLUMNS, type BookingRow } from "../queries.ts";
import { type ListFilter, matchesAppointment } from "./list-queries.ts";
import { type SearchedPart, toWeek, toWeekQuery, WEEK_MARK, WEEK_SECONDS } from "./search-terms.ts";

const OPEN_TEXT = sql`booking_open_text(reference, service_name, attribution)`;
const CUSTOMER_TEXT = sql`booking_customer_text(customer_name, customer_email)`;
/** The expression of the index bookings_search. */
const GRAMS = sql`booking_grams(organization_id, created_at, widget_id, ${OPEN_TEXT}, ${CUSTOMER_TEXT})`;
const COLUMNS = sql.join(BOOKING_COLUMNS.map((column) => sql.ref(column)));
/** Enough to count the matches. */
const PLACE_COLUMNS = sql`reference, created_at`;

export type BookingSearch = ListFilter & {
  /** Not empty, without control characters. */
  search: string;
  parts: readonly SearchedPart[];
};

/** The newest are scanned one by one: frequent terms end here. */
const NEWEST_COUNT = 500;

/** The newest bookings with the text in one of their fields, in any letter case, newest first. */
export async function searchBookings(db: Db, owner: OrganizationId, search: BookingSearch): Promise<BookingRow[]> {
  return await find<BookingRow>(db, owner, { ...search, columns: COLUMNS });
}

/** Counts up to the search's limit. */
export async function countFound(db: Db, owner: OrganizationId, search: BookingSearch): Promise<number> {
  return (await find(db, owner, { ...search, columns: PLACE_COLUMNS })).length;
}

/** The condition of a search, for statements that read bookings in another order. */
export function containsText({ search, parts }: Pick<BookingSearch, "search" | "parts">): RawBuilder<unknown> {
  return holds(parts, toTerm(search));
}

type FoundRow = Pick<BookingRow, "reference" | "created_at">;
type ColumnSearch = BookingSearch & { columns: RawBuilder<unknown> };

async function find<Row extends FoundRow>(db: Db, owner: OrganizationId, search: ColumnSearch): Promise<Row[]> {
  const { found, term, oldest, reached, looked } = await searchNewest<Row>(db, owner, search);
  if (found.length === search.limit || looked < NEWEST_COUNT || !oldest || !reached) return found;
  const rest = { ...search, createdBefore: reached, limit: search.limit - found.length };
  return [...found, ...(await searchWeeks<Row>(db, owner, { ...rest, term, oldest, newest: reached }))];
}

type Look = {
  /** The text in the index's form; PostgreSQL folds the letter case. */
  term: string;
  looked: number;
  /** createdAt of the oldest booking scanned, and of the oldest one in range. */
  reached: Date | null;
  oldest: Date | null;
};

async function searchNewest<Row extends FoundRow>(
  db: Db,
  owner: OrganizationId,
  search: ColumnSearch,
): Promise<Look & { found: Row[] }> {
  const { parts, columns, widgetId, createdFrom, limit } = search;
  const isInRange = sql`organization_id = ${owner} and created_at >= ${createdFrom}
    and created_at < ${search.createdBefore ?? "infinity"}::timestamptz
    ${widgetId === null ? sql`` : sql`and widget_id = ${widgetId}`}`;
  const statement = sql<Look & (Row | { reference: null })>`
    with newest as materialized (
      select ${COLUMNS} from ${table("bookings")} where ${isInRange} order by created_at desc limit ${NEWEST_COUNT}
    ), look as (
      select count(*) as looked, min(created_at) as reached,
        ${toTerm(search.search)} as term,
        (select min(created_at) from ${table("bookings")} where ${isInRange}) as oldest
      from newest
    )
    select look.*, found.* from look left join lateral (
      select ${columns} from newest where ${holds(parts, sql`term`)} and ${matchesAppointment(search)}
      order by created_at desc limit ${limit}
    ) found on true
    order by found.created_at desc`;
  const { rows } = await readAtHome(db, owner, (home) => statement.execute(home));
  const [look] = rows;
  assert(look, "an aggregate returns one row");
  return { ...look, found: rows.filter((row): row is Look & Row => row.reference !== null) };
}

/**
 * Searches the index week by week, newest first, and stops when the page is full: the lateral join takes the weeks in the
 * order of generate_series. A search costs one probe per week, plus what it finds in the week that fills the page.
 * `is true` keeps the planner from using any other index: the words already name organization and week.
 */
async function searchWeeks<Row extends FoundRow>(
  db: Db,
  owner: OrganizationId,
  search: Omit<ColumnSearch, "search"> & { term: string; createdBefore: Date; oldest: Date; newest: Date },
): Promise<Row[]> {
  const { term, parts, columns, widgetId, createdFrom, createdBefore, limit } = search;
  const query = toWeekQuery(term, { owner, parts, widgetId });
  const startOf = (week: RawBuilder<unknown>) => sql`to_timestamp((${week})::float8 * ${sql.lit(WEEK_SECONDS)})`;
  const statement = sql<Row>`
    select found.* from generate_series(${toWeek(search.newest)}::integer, ${toWeek(search.oldest)}::integer, -1) week
    cross join lateral (
      select ${columns} from ${table("bookings")}
      where ${GRAMS} @@ replace(${query}, ${WEEK_MARK}, week::text)::tsquery
        and (
          organization_id = ${owner}
          and created_at >= greatest(${createdFrom}::timestamptz, ${startOf(sql`week`)})
          and created_at < least(${createdBefore}::timestamptz, ${startOf(sql`week + 1`)})
        ) is true
        and ${holds(parts, sql`${term}::text`)} and ${matchesAppointment(search)}
      order by created_at desc limit ${limit}
    ) found
    limit ${limit}`;
  return (await readAtHome(db, owner, (home) => statement.execute(home))).rows;
}

/** In the letter case and form of the index. */
function toTerm(search: string): RawBuilder<unknown> {
  return sql`lower(normalize(${search}::text) collate "pg_c_utf8")`;
}

function holds(parts: readonly SearchedPart[], term: RawBuilder<unknown>): RawBuilder<unknown> {
  const conditions = parts.map((part) => sql`strpos(${part === "o" ? OPEN_TEXT : CUSTOMER_TEXT}, ${term}) > 0`);
  return sql`(${sql.join(conditions, sql` or `)})`;
}
