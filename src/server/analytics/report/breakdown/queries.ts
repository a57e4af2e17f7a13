import { type RawBuilder, sql } from "kysely";
import { type Dimension, NOT_SET } from "#contract/analytics/dimensions.ts";
import type { AppBreakdown } from "#contract/app/analytics.ts";
import { UNKNOWN_NAMES } from "#contract/app/report-words.ts";
import type { OrganizationId } from "#contract/ids.ts";
import type { Db } from "../../../db/connections/pool.ts";
import { assert } from "../../../lib/assert.ts";
import type { KeyCounts } from "../../packs/totals.ts";
import { isKeyed } from "../../record/key-id.ts";
import { type NamedCounts, toKeyCountsTable, toTextCountsTable } from "../lists.ts";
import { findMost } from "../report.ts";
import { chooseBest, leaveOutBefore } from "./best-keys.ts";

// The whole list of one dimension, from its counts: PostgreSQL names, searches and sorts the keys.

export const BREAKDOWN_SORTS = ["bookings", "views", "conversionRate", "key"] as const;
type BreakdownSort = (typeof BREAKDOWN_SORTS)[number];

export type ListOrder = {
  /** Only names that contain this text, ignoring case and accents. */
  search: string | null;
  sort: BreakdownSort;
  isAscending: boolean;
};

export type BreakdownPart = ListOrder & {
  offset: number;
  limit: number;
  /** Only rows after this one; for the order by bookings alone. */
  after: NamedCounts | null;
};

/** Most bookings first. */
export const LARGEST_FIRST = { search: null, sort: "bookings", isAscending: false, offset: 0, after: null } as const;

/** `label` is a widget's name. `count` and `most` are about the rows on all pages. */
type BreakdownRows = {
  rows: (NamedCounts & { label: string | null })[];
  count: number;
  most: AppBreakdown["most"];
};

/** One page, and what it is a page of. */
export async function selectRows(
  db: Db,
  owner: OrganizationId,
  { totals, dimension, part }: { totals: KeyCounts; dimension: Dimension; part: BreakdownPart },
): Promise<BreakdownRows> {
  const shown = isKeyed(dimension) ? chooseShown(totals, part) : totals;
  const counts = isKeyed(dimension)
    ? await toKeyCountsTable(new Map([[dimension, shown]]))
    : toTextCountsTable(shown, dimension);
  const { rows } = await sql<BreakdownRows>`
    with ${counts}, ${findRows(owner, { dimension, order: part })} select ${listRows(part)}`.execute(db);
  const [found] = rows;
  assert(found, "a select without from gives one row");
  return shown === totals ? found : { ...found, count: totals.size, most: findMost(totals.values()) };
}

/** All of them as texts of JSON, in order. */
export async function selectPieces(
  db: Db,
  owner: OrganizationId,
  { totals, dimension, order }: { totals: KeyCounts; dimension: Dimension; order: ListOrder },
): Promise<string[]> {
  const counts = isKeyed(dimension)
    ? await toKeyCountsTable(new Map([[dimension, totals]]))
    : toTextCountsTable(totals, dimension);
  const { rows } = await sql<{ piece: string }>`
    with ${counts}, ${findRows(owner, { dimension, order })}, ${cutPieces(order)}
    select piece from pieces order by number`.execute(db);
  return rows.map(({ piece }) => piece);
}

/** The keys that can be on the page; all of them if search or order needs names or rates. */
function chooseShown(totals: KeyCounts, { search, sort, isAscending, offset, limit, after }: BreakdownPart): KeyCounts {
  if (search || sort !== "bookings" || isAscending) return totals;
  if (!after) return chooseBest(totals, offset + limit);
  // Keys with the same counts as the cursor row may sort before or after it.
  const left = leaveOutBefore(totals, after);
  const tied = left
    .values()
    .reduce((sum, { views, bookings }) => sum + Number(views === after.views && bookings === after.bookings), 0);
  return chooseBest(left, tied + limit);
}

/** CTE `found`: the rows of all pages. */
function findRows(
  owner: OrganizationId,
  { dimension, order: { search } }: { dimension: Dimension; order: ListOrder },
): RawBuilder<unknown> {
  // An id is not searched for: people don't see it.
  const texts = dimension === "widget" ? [sql`name`] : [sql`name`, sql`key`];
  const isFound = sql.join(
    texts.map((text) => sql`position(${fold(sql`${search}::text`)} in ${fold(text)}) > 0`),
    sql` or `,
  );
  return sql`named as materialized (${nameKeys(owner, dimension)})
    , found as materialized (
      select key, name, ${dimension === "widget" ? sql`name` : sql`null::text`} as label,
        views::bigint as views, bookings::bigint as bookings,
        case when views = 0 then 0 else least(1, bookings::float8 / views::float8) end as rate
      from named ${search === null ? sql`` : sql`where ${isFound}`}
    )`;
}

/** Rows of a piece: about a millisecond to read. */
const PIECE_ROWS = 2_000;

/** CTE `pieces`. */
function cutPieces(order: ListOrder): RawBuilder<unknown> {
  return sql`pieces as (
      select (position - 1) / ${sql.lit(PIECE_ROWS)} as number,
        json_agg(json_build_array(key, label, views, bookings) order by position)::text as piece
      from (
        select key, label, views, bookings, row_number() over (order by ${toOrder(order)}) as position from found
      ) placed
      group by number
    )`;
}

function listRows(part: BreakdownPart): RawBuilder<unknown> {
  const isAfter = part.after
    ? sql`where (-bookings, -views) > (${-part.after.bookings}::bigint, ${-part.after.views}::bigint)
        or (bookings, views) = (${part.after.bookings}::bigint, ${part.after.views}::bigint) and key > ${part.after.key} collate "C"`
    : sql``;
  return sql`(select count(*) from found)::integer as count, (
      select json_build_object('views', coalesce(max(views), 0), 'bookings', coalesce(max(bookings), 0),
        'conversionRate', coalesce(max(rate), 0))
      from found
    ) as most, (
      select coalesce(json_agg(page), '[]')
      from (
        select key, label, views, bookings from found ${isAfter}
        order by ${toOrder(part)}
        limit ${part.limit} offset ${part.offset}
      ) page
    ) as rows`;
}

/** Each key with the name that people see. Countries and devices get theirs later: see breakdown.ts. */
function nameKeys(owner: OrganizationId, dimension: Dimension): RawBuilder<unknown> {
  if (dimension === "widget")
    return sql`select widget_id as key, widgets.name, views, bookings
      from widget_counts join widgets on widgets.organization_id = ${owner} and widgets.id = widget_id`;
  const unknown = UNKNOWN_NAMES[dimension] ?? NOT_SET;
  if (dimension === "service")
    return sql`select service as key, case when service = ${sql.lit(NOT_SET)} then ${sql.lit(unknown)} else service end as name,
        views, bookings
      from service_counts`;
  const name = dimension === "page" ? sql`regexp_replace(key, '^https?://(www[.])?', '')` : sql`key`;
  return sql`select case when key = '' then ${sql.lit(NOT_SET)} else key end as key,
      case when key in ('', ${sql.lit(NOT_SET)}) then ${sql.lit(unknown)} else ${name} end as name, views, bookings
    from key_counts join funnel_keys on organization_id = ${owner} and funnel_keys.id = key_counts.id`;
}

/** Then by bookings, views and key, so that the order of any two rows is fixed. */
function toOrder({ sort, isAscending }: ListOrder): RawBuilder<unknown> {
  const column = {
    bookings: sql`bookings`,
    views: sql`views`,
    conversionRate: sql`rate`,
    key: fold(sql`name`),
  }[sort];
  return sql`${column} ${isAscending ? sql`asc` : sql`desc`}, bookings desc, views desc, key collate "C"`;
}

/** Without accents and capitals, so that Ä is found and sorted like A. The same on every server, whatever its locale. */
function fold(text: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`lower(regexp_replace(normalize(${text}, nfd), '[\\u0300-\\u036f]', '', 'g') collate "pg_c_utf8")`;
}
