import { type RawBuilder, sql } from "kysely";
import { type Dimension, NOT_SET } from "#contract/dimensions.ts";
import type { OrganizationId } from "#contract/ids.ts";
import type { Db } from "../db/pool.ts";
import { toKindNumber } from "../funnel/record/key-id.ts";
import { isKeyed } from "./dimension-keys.ts";
import { giveKeyCounts, giveTextCounts, type KeyCounts } from "./lists.ts";
import { type CountedWindow, countDays, countKeys, countWidgets } from "./queries.ts";
import type { Totals } from "./scan/visit-counts.ts";

// The whole list of one dimension. Without filters, or for one widget, it comes from the counters; else from the visits.

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

type BreakdownRow = KeyCounts & { label: string | null; count: number };

export type CountSource =
  | { kind: "counters"; owner: OrganizationId; window: CountedWindow }
  | { kind: "visits"; owner: OrganizationId; totals: Totals };

/** `label` is a widget's name. `count` is the number of rows on all pages. */
export async function selectBreakdown(
  db: Db,
  source: CountSource,
  { dimension, part }: { dimension: Dimension; part: BreakdownPart },
): Promise<BreakdownRow[]> {
  const { owner } = source;
  const isAfter = part.after
    ? sql`where (-bookings, -views) > (${-part.after.bookings}::bigint, ${-part.after.views}::bigint)
        or (bookings, views) = (${part.after.bookings}::bigint, ${part.after.views}::bigint) and key > ${part.after.key} collate "C"`
    : sql``;
  const { rows } = await sql<BreakdownRow>`
    with ${source.kind === "counters" ? fromCounters(source, dimension) : fromVisits(source.totals, dimension)}
    , named as materialized (${nameKeys(owner, dimension)})
    , found as materialized (
      select key, label, views::bigint as views, bookings::bigint as bookings,
        case when views = 0 then 0 else least(1, bookings::float8 / views::float8) end as rate
      from named ${part.search ? sql`where ${contains(part.search)}` : sql``}
    )
    select key, label, views, bookings, (select count(*) from found)::integer as count
    from found ${isAfter}
    order by ${toOrder(part)}, bookings desc, views desc, key collate "C"
    limit ${part.limit} offset ${part.offset}`.execute(db);
  return rows;
}

function fromCounters(
  { owner, window }: Extract<CountSource, { kind: "counters" }>,
  dimension: Dimension,
): RawBuilder<unknown> {
  if (dimension === "widget") return sql`${countDays(owner, window)}, ${countWidgets(owner, window)}`;
  // Services are counted from the visits alone: see readBreakdown.
  const kind = isKeyed(dimension) ? toKindNumber(dimension) : 0;
  return sql`${countDays(owner, window)}, ${countKeys(owner, window, sql`kind = ${sql.lit(kind)}`)}`;
}

/** CTEs as fromCounters gives them; `service_counts` for services. */
function fromVisits(totals: Totals, dimension: Dimension): RawBuilder<unknown> {
  return isKeyed(dimension) ? giveKeyCounts(new Map([[dimension, totals]])) : giveTextCounts(totals, dimension);
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
