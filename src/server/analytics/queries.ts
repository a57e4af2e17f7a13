import { type RawBuilder, sql } from "kysely";
import type { OrganizationId, WidgetId } from "#contract/ids.ts";
import { CAMPAIGNS_MAX, CHANNELS_MAX, SOURCES_MAX } from "#contract/limits.ts";
import type { Db } from "../db/pool.ts";
import { type KeyKind, toKindNumber } from "../funnel/record/key-id.ts";
import { localDay } from "../funnel/record/local-day.ts";
import { SHORTEST_SPAN, SPAN_LENGTHS, spanStart } from "../funnel/recount/key-spans.ts";
import { assert } from "../lib/assert.ts";

export type KeyCounts = { key: string; views: number; bookings: number };

export type AnalyticsCounts = {
  zone: string;
  /** Last day of the window: the local date of the request, or the requested day. */
  today: string;
  days: { day: string; views: number; bookings: number }[];
  /** Visits by furthest step, in the order of FUNNEL_STEPS. */
  reached: number[];
  bookings: number;
  failed: number;
  no_availability: number;
  lead_ms: number;
  lead_count: number;
  /** Sorted and cut to what the contract shows. */
  channels: KeyCounts[];
  sources: KeyCounts[];
  campaigns: KeyCounts[];
};

/** Two years of days are returned as three arrays: building objects would take PostgreSQL longer than the sums. */
type AnalyticsRow = Omit<AnalyticsCounts, "days"> & { days: string[]; day_views: number[]; day_bookings: number[] };

/** The kinds that the contract lists; they have the lowest numbers. */
const LISTED_KINDS = ["channel", "source", "campaign"] as const satisfies readonly KeyKind[];
type ListedKind = (typeof LISTED_KINDS)[number];

/** Widget id under which all widgets are counted together. */
const ALL_WIDGETS = "";

/**
 * Everything a report needs, read in one statement and therefore from one snapshot: a switch to another time zone, or a visit
 * being recorded, is included completely or not at all. Days come only from the local-day counters. The lists use the longest
 * spans in the middle of the window, shorter ones around them and single days at both ends: see funnel/recount/key-spans.ts.
 * Served by the primary keys of the three tables, regardless of the number of events.
 */
export async function selectAnalytics(
  db: Db,
  owner: OrganizationId,
  window: { days: number; now: Date; keptSince: Date; widgetId: WidgetId | null; lastDay?: string },
): Promise<AnalyticsCounts> {
  const widgetId = window.widgetId ?? ALL_WIDGETS;
  const { rows } = await sql<AnalyticsRow>`-- prepared: select_analytics
    with local as (
      select zone, version, sealed_before,
        least(${localDay(sql`day_zones.rules`, sql`${window.now}::timestamptz`)}, ${window.lastDay ?? null}::date) as today,
        ${localDay(sql`day_zones.rules`, sql`greatest(${window.keptSince}::timestamptz, kept_since)`)} as oldest_day
      from day_zones where organization_id = ${owner}
    ), span as (
      select zone, version, least(sealed_before, ${spanStart(sql`(today + 1)`, SHORTEST_SPAN)}) as sealed_before, today,
        greatest(today - (${window.days}::integer - 1), oldest_day) as first_day
      from local
    ), edges as (
      select version, first_day, today, ${sql.join(SPAN_LENGTHS.flatMap(toEdges))} from span
    ), day_counts as (
      select day, reached_1, reached_2, reached_3, reached_4, reached_5, reached_6, no_availability, bookings, failed,
        lead_ms, lead_count, reached_1 + reached_2 + reached_3 + reached_4 + reached_5 + reached_6 as views
      from span
      join funnel_days on organization_id = ${owner} and funnel_days.version = span.version and widget_id = ${widgetId}
        and day between first_day and today
    ), key_counts as materialized (
      select kind, key as id, sum(views) as views, sum(bookings) as bookings
      from edges cross join lateral (${listParts({ owner, widgetId })}) parts
      group by kind, key
      having sum(views) <> 0 or sum(bookings) <> 0
    )
    select zone, today::text as today,
      totals.days, totals.day_views, totals.day_bookings, totals.reached, totals.bookings, totals.failed,
      totals.no_availability, totals.lead_ms, totals.lead_count,
      ${listBest(owner, "channel", CHANNELS_MAX)} as channels, ${listBest(owner, "source", SOURCES_MAX)} as sources,
      ${listBest(owner, "campaign", CAMPAIGNS_MAX)} as campaigns
    from span cross join (
      select to_json(coalesce(array_agg(day), '{}')) as days, to_json(coalesce(array_agg(views), '{}')) as day_views,
        to_json(coalesce(array_agg(bookings), '{}')) as day_bookings,
        array[coalesce(sum(reached_1), 0), coalesce(sum(reached_2), 0), coalesce(sum(reached_3), 0),
          coalesce(sum(reached_4), 0), coalesce(sum(reached_5), 0), coalesce(sum(reached_6), 0)]::float8[] as reached,
        coalesce(sum(bookings), 0)::bigint as bookings, coalesce(sum(failed), 0)::bigint as failed,
        coalesce(sum(no_availability), 0)::bigint as no_availability,
        coalesce(sum(lead_ms), 0)::bigint as lead_ms, coalesce(sum(lead_count), 0)::bigint as lead_count
      from day_counts
    ) totals`.execute(db);
  const row = requireZone(rows);
  const { day_views, day_bookings, ...counts } = row;
  const days = row.days.map((day, i) => ({ day, views: day_views[i] ?? 0, bookings: day_bookings[i] ?? 0 }));
  return { ...counts, days };
}

/** For each length, where its spans start and end in the window. */
function toEdges(days: number): RawBuilder<unknown>[] {
  const first = spanStart(sql`(first_day + ${sql.lit(days - 1)})`, days);
  const last = spanStart(sql`sealed_before`, days);
  return [sql`${first} as ${firstOf(days)}`, sql`greatest(${last}, ${first}) as ${afterOf(days)}`];
}

const firstOf = (days: number) => sql.ref(`first_${days}`);
const afterOf = (days: number) => sql.ref(`after_${days}`);

/** The window without gaps and overlaps: days, spans of growing and then shrinking length, days. */
function listParts({ owner, widgetId }: { owner: OrganizationId; widgetId: string }): RawBuilder<unknown> {
  const counts = (table: string) => sql`
    select kind, key, views, bookings from ${sql.table(table)} counted
    where kind <= ${sql.lit(LISTED_KINDS.length)} and organization_id = ${owner} and counted.version = edges.version and widget_id = ${widgetId}`;
  const days = counts("funnel_key_days");
  const spans = (length: number, from: RawBuilder<unknown>, to: RawBuilder<unknown>) =>
    sql`${counts("funnel_key_spans")} and span_days = ${sql.lit(length)} and start_day >= ${from} and start_day < ${to}`;
  const longest = SPAN_LENGTHS[SPAN_LENGTHS.length - 1] as number;
  const pairs = SPAN_LENGTHS.slice(1).map((longer, i) => ({ shorter: SPAN_LENGTHS[i] as number, longer }));
  const parts = [
    sql`${days} and day >= first_day and day < least(${firstOf(SHORTEST_SPAN)}, today + 1)`,
    ...pairs.map(({ shorter, longer }) =>
      spans(shorter, firstOf(shorter), sql`least(${firstOf(longer)}, ${afterOf(shorter)})`),
    ),
    spans(longest, firstOf(longest), afterOf(longest)),
    ...pairs.toReversed().map(({ shorter, longer }) => spans(shorter, afterOf(longer), afterOf(shorter))),
    sql`${days} and day >= ${afterOf(SHORTEST_SPAN)} and day <= today`,
  ];
  return sql.join(parts, sql` union all `);
}

/**
 * Most bookings first, then most views, then by key in byte order. Only keys that may be in the list are looked up: those
 * before the last place, and all that tie with it.
 */
function listBest(owner: OrganizationId, kind: ListedKind, most: number): RawBuilder<KeyCounts[]> {
  return sql`(
    select coalesce(json_agg(json_build_object('key', key, 'views', views, 'bookings', bookings)
      order by bookings desc, views desc, key), '[]')
    from (
      select key, views, bookings
      from (
        select id, views, bookings from key_counts where kind = ${sql.lit(toKindNumber(kind))}
        order by bookings desc, views desc fetch first ${sql.lit(most)} rows with ties
      ) best
      join funnel_keys on organization_id = ${owner} and funnel_keys.id = best.id
      order by bookings desc, views desc, key limit ${sql.lit(most)}
    ) named
  )`;
}

type DataRange = { today: string; data_since: string | null };

/** The local date of an instant, and the oldest day with counts within retention; null before the first view. */
export async function selectDataRange(
  db: Db,
  owner: OrganizationId,
  scope: { now: Date; keptSince: Date; widgetId: WidgetId | null },
): Promise<DataRange> {
  const { rows } = await sql<DataRange>`
    with local as (
      select version, ${localDay(sql`day_zones.rules`, sql`${scope.now}::timestamptz`)} as today,
        ${localDay(sql`day_zones.rules`, sql`greatest(${scope.keptSince}::timestamptz, kept_since)`)} as oldest_day
      from day_zones where organization_id = ${owner}
    )
    select today, (
      select min(day) from funnel_days
      where organization_id = ${owner} and funnel_days.version = local.version
        and widget_id = ${scope.widgetId ?? ALL_WIDGETS} and day >= oldest_day
    ) as data_since
    from local`.execute(db);
  const row = requireZone(rows);
  return row;
}

/** Events dropped during the window's days, both ends included. */
export async function countDrops(
  db: Db,
  owner: OrganizationId,
  window: { from: string; to: string; widgetId: WidgetId | null },
): Promise<number> {
  const { rows } = await sql<{ events: number }>`
    select coalesce(sum(events), 0)::integer as events
    from day_zones join funnel_drops using (organization_id)
    where organization_id = ${owner} and (${window.widgetId}::text is null or widget_id = ${window.widgetId})
      and ${localDay(sql`day_zones.rules`, sql`hour`)} between ${window.from}::date and ${window.to}::date`.execute(db);
  return rows[0]?.events ?? 0;
}

/** Every statement here starts from the organization's day_zones row, so it returns one row. */
function requireZone<Row>([row]: readonly Row[]): Row {
  assert(row, "an organization has a row in day_zones");
  return row;
}
