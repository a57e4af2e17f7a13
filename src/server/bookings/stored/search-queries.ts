import { type RawBuilder, sql } from "kysely";
import type { OrganizationId } from "#contract/ids.ts";
import { engineOf } from "../../db/engine.ts";
import type { Db } from "../../db/pool.ts";
import { assert } from "../../lib/assert.ts";
import { BOOKING_COLUMNS, type BookingFilter, type BookingRow } from "./queries.ts";
import { type SearchedPart, toWeek, toWeekQuery, WEEK_MARK, WEEK_SECONDS } from "./search-terms.ts";

const OPEN_TEXT = sql`booking_open_text(reference, service_name, attribution)`;
const CUSTOMER_TEXT = sql`booking_customer_text(customer_name, customer_email)`;
/** The expression of the index bookings_search. */
const GRAMS = sql`booking_grams(organization_id, created_at, widget_id, ${OPEN_TEXT}, ${CUSTOMER_TEXT})`;
const COLUMNS = sql.join(BOOKING_COLUMNS.map((column) => sql.ref(column)));

export type BookingSearch = BookingFilter & {
  /** Not empty, without control characters. */
  search: string;
  parts: readonly SearchedPart[];
};

/** The newest bookings are scanned one by one: frequent terms end here, and small organizations need no index. */
const NEWEST_COUNT = 500;

/** Bookings with the text in one of their fields, in any letter case, newest first. */
export async function searchBookings(db: Db, owner: OrganizationId, search: BookingSearch): Promise<BookingRow[]> {
  const { found, term, oldest, reached, looked } = await searchNewest(db, owner, search);
  if (found.length === search.limit || looked < NEWEST_COUNT || !oldest || !reached) return found;
  const rest = { ...search, createdBefore: reached, limit: search.limit - found.length };
  return [...found, ...(await searchWeeks(db, owner, { ...rest, term, oldest, newest: reached }))];
}

type Look = {
  /** The text in the index's form; PostgreSQL folds the letter case. */
  term: string;
  looked: number;
  /** createdAt of the oldest booking scanned, and of the oldest one in range. */
  reached: Date | null;
  oldest: Date | null;
};

async function searchNewest(
  db: Db,
  owner: OrganizationId,
  search: BookingSearch,
): Promise<Look & { found: BookingRow[] }> {
  const { parts, widgetId, createdFrom, limit } = search;
  const isInRange = sql`organization_id = ${owner} and created_at >= ${createdFrom}
    and created_at < ${search.createdBefore ?? "infinity"}::timestamptz
    ${widgetId === null ? sql`` : sql`and widget_id = ${widgetId}`}`;
  const { rows } = await sql<Look & (BookingRow | { reference: null })>`
    with newest as materialized (
      select ${COLUMNS} from bookings where ${isInRange} order by created_at desc limit ${NEWEST_COUNT}
    ), look as (
      select count(*) as looked, min(created_at) as reached,
        lower(normalize(${search.search}::text) collate "pg_c_utf8") as term,
        (select min(created_at) from bookings where ${isInRange}) as oldest
      from newest
    )
    select look.*, found.* from look left join lateral (
      select ${COLUMNS} from newest where ${holds(parts, sql`term`)} order by created_at desc limit ${limit}
    ) found on true
    order by found.created_at desc`.execute(db);
  const [look] = rows;
  assert(look, "an aggregate returns one row");
  return { ...look, found: rows.flatMap((row) => (row.reference === null ? [] : [row])) };
}

/**
 * Searches the index week by week, newest first, and stops when the page is full: the lateral join takes the weeks in the
 * order of generate_series. A search costs one probe per week, plus what it finds in the week that fills the page.
 * `is true` keeps the planner from using any other index: the words already name organization and week, and reading all of
 * a week's bookings from another index took longer than everything else. Citus finds the server by a plain condition only.
 */
async function searchWeeks(
  db: Db,
  owner: OrganizationId,
  search: Omit<BookingSearch, "search"> & { term: string; createdBefore: Date; oldest: Date; newest: Date },
): Promise<BookingRow[]> {
  const { term, parts, widgetId, createdFrom, createdBefore, limit } = search;
  const query = toWeekQuery(term, { owner, parts, widgetId });
  const startOf = (week: RawBuilder<unknown>) => sql`to_timestamp((${week})::float8 * ${sql.lit(WEEK_SECONDS)})`;
  const { rows } = await sql<BookingRow>`
    select found.* from generate_series(${toWeek(search.newest)}::integer, ${toWeek(search.oldest)}::integer, -1) week
    cross join lateral (
      select ${COLUMNS} from bookings
      where ${engineOf(db) === "citus" ? sql`organization_id = ${owner} and` : sql``} ${GRAMS} @@ replace(${query}, ${WEEK_MARK}, week::text)::tsquery
        and (
          organization_id = ${owner}
          and created_at >= greatest(${createdFrom}::timestamptz, ${startOf(sql`week`)})
          and created_at < least(${createdBefore}::timestamptz, ${startOf(sql`week + 1`)})
        ) is true
        and ${holds(parts, sql`${term}::text`)}
      order by created_at desc limit ${limit}
    ) found
    limit ${limit}`.execute(db);
  return rows;
}

function holds(parts: readonly SearchedPart[], term: RawBuilder<unknown>): RawBuilder<unknown> {
  const conditions = parts.map((part) => sql`strpos(${part === "o" ? OPEN_TEXT : CUSTOMER_TEXT}, ${term}) > 0`);
  return sql`(${sql.join(conditions, sql` or `)})`;
}
