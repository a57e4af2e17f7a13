import { type RawBuilder, sql } from "kysely";
import type { AppBreakdown } from "#contract/app/analytics.ts";
import { type Dimension, NOT_SET } from "#contract/dimensions.ts";
import type { OrganizationId } from "#contract/ids.ts";
import type { Db } from "../db/pool.ts";
import { toKindNumber } from "../funnel/record/key-id.ts";
import { assert } from "../lib/assert.ts";
import { chooseBest, leaveOutBefore } from "./best-keys.ts";
import { isKeyed } from "./dimension-keys.ts";
import { giveKeyCounts, giveTextCounts, type KeyCounts } from "./lists.ts";
import { type CountedWindow, countDays, countKeys, countWidgets } from "./queries.ts";
import { toRate } from "./report.ts";
import type { Totals } from "./scan/visit-counts.ts";

// The whole list of one dimension. Without filters, or for one widget, it comes from the counters; else from the visits. A
// statement returns one row, because no rows have another meaning: the counters are of another time zone.

export const BREAKDOWN_SORTS = ["bookings", "views", "conversionRate", "key"] as const;
type BreakdownSort = (typeof BREAKDOWN_SORTS)[number];

export type BreakdownPart = {
  /** Only keys that contain this text, whatever its case. Of countries, `codes` are those whose name does. */
  search: { text: string; codes: readonly string[] } | null;
  sort: BreakdownSort;
  isAscending: boolean;
  offset: number;
  limit: number;
  /** Only rows after this one; for the order by bookings alone. */
  after: KeyCounts | null;
};

/** `label` is a widget's name. `count` and `most` are about the rows on all pages. */
type BreakdownRows = {
  rows: (KeyCounts & { label: string | null })[];
  count: number;
  most: AppBreakdown["most"];
};

/** Null if the counters are of another zone. */
export async function selectCountedRows(
  db: Db,
  owner: OrganizationId,
  { window, dimension, part }: { window: CountedWindow; dimension: Exclude<Dimension, "service">; part: BreakdownPart },
): Promise<BreakdownRows | null> {
  const counts = isKeyed(dimension)
    ? countKeys(owner, window, sql`kind = ${sql.lit(toKindNumber(dimension))}`)
    : countWidgets(owner, window);
  const { rows } = await sql<BreakdownRows>`
    with ${countDays(owner, window)}, ${counts}, ${findRows(owner, { dimension, part })}
    select ${listRows(part)} from span`.execute(db);
  return rows[0] ?? null;
}

/** From what was counted of the visits. */
export async function selectScannedRows(
  db: Db,
  owner: OrganizationId,
  { totals, dimension, part }: { totals: Totals; dimension: Dimension; part: BreakdownPart },
): Promise<BreakdownRows> {
  const shown = isKeyed(dimension) ? chooseShown(totals, part) : totals;
  const counts = isKeyed(dimension) ? await giveKeyCounts(dimension, shown) : giveTextCounts(shown, dimension);
  const { rows } = await sql<BreakdownRows>`
    with ${counts}, ${findRows(owner, { dimension, part })} select ${listRows(part)}`.execute(db);
  const [found] = rows;
  assert(found, "a select without from gives one row");
  return shown === totals ? found : { ...found, count: totals.size, most: findMost(totals) };
}

function findMost(totals: Totals): BreakdownRows["most"] {
  const most = { views: 0, bookings: 0, conversionRate: 0 };
  for (const { views, bookings } of totals.values()) {
    most.views = Math.max(most.views, views);
    most.bookings = Math.max(most.bookings, bookings);
    most.conversionRate = Math.max(most.conversionRate, toRate(bookings, views));
  }
  return most;
}

/** The keys that may be on the page; all if it takes their names to say. */
function chooseShown(totals: Totals, { search, sort, isAscending, offset, limit, after }: BreakdownPart): Totals {
  if (search || sort !== "bookings" || isAscending) return totals;
  if (!after) return chooseBest(totals, offset + limit);
  // Those that tie with the row before the page may come before it or after it.
  const left = leaveOutBefore(totals, after);
  const tied = left
    .values()
    .reduce((sum, { views, bookings }) => sum + Number(views === after.views && bookings === after.bookings), 0);
  return chooseBest(left, tied + limit);
}

/** CTE `found`: the rows of all pages. */
function findRows(
  owner: OrganizationId,
  { dimension, part }: { dimension: Dimension; part: BreakdownPart },
): RawBuilder<unknown> {
  return sql`named as materialized (${nameKeys(owner, dimension)})
    , found as materialized (
      select key, label, views::bigint as views, bookings::bigint as bookings,
        case when views = 0 then 0 else least(1, bookings::float8 / views::float8) end as rate
      from named ${part.search ? sql`where ${contains(part.search)}` : sql``}
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
        order by ${toOrder(part)}, bookings desc, views desc, key collate "C"
        limit ${part.limit} offset ${part.offset}
      ) page
    ) as rows`;
}

function nameKeys(owner: OrganizationId, dimension: Dimension): RawBuilder<unknown> {
  if (dimension === "service")
    return sql`select service as key, null::text as label, views, bookings from service_counts`;
  if (dimension === "widget")
    return sql`select widget_id as key, widgets.name as label, views, bookings
      from widget_counts join widgets on widgets.organization_id = ${owner} and widgets.id = widget_id`;
  return sql`select case when key = '' then ${sql.lit(NOT_SET)} else key end as key, null::text as label, views, bookings
    from key_counts join funnel_keys on organization_id = ${owner} and funnel_keys.id = key_counts.id`;
}

function contains({ text, codes }: { text: string; codes: readonly string[] }): RawBuilder<unknown> {
  return sql`position(lower(${text}) in lower(coalesce(label, key))) > 0 or key = any(${codes}::text[])`;
}

function toOrder({ sort, isAscending }: BreakdownPart): RawBuilder<unknown> {
  const column = {
    bookings: sql`bookings`,
    views: sql`views`,
    conversionRate: sql`rate`,
    key: sql`lower(coalesce(label, key))`,
  }[sort];
  return isAscending ? sql`${column} asc` : sql`${column} desc`;
}
