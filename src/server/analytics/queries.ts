import { type RawBuilder, sql } from "kysely";
import type { OrganizationId, WidgetId } from "#contract/ids.ts";
import type { Db } from "../db/pool.ts";
import { FixedStatement, type Placeholders } from "../db/run-prepared.ts";
import { visitsStarted } from "../funnel/record/counters.ts";
import { KEY_KINDS } from "../funnel/record/key-id.ts";
import { localDay } from "../funnel/record/local-day.ts";
import {
  ALL_WIDGETS,
  SHORTEST_SPAN,
  SPAN_LENGTHS,
  spanStart,
  WIDGET_SPAN_LENGTHS,
} from "../funnel/recount/key-spans.ts";
import { type ContractLists, type KeyList, LISTED_KINDS, listAll, listForContract } from "./lists.ts";
import type { LocalWindow } from "./scan/local-window.ts";

// What the counters say. They are of one time zone: while they are being recounted for another one, they have no answer.

/** A window without its lists. */
export type DayCounts = {
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
};

export type AnalyticsCounts = DayCounts & ContractLists;

/** Two years of days are returned as three arrays: building objects would take PostgreSQL longer than the sums. */
type DayRow = Omit<DayCounts, "days"> & { days: string[]; day_views: number[]; day_bookings: number[] };

export type CountedWindow = {
  /** Only counters of this zone answer. By default, it is the organization's. */
  zone?: string;
  days: number;
  now: Date;
  keptSince: Date;
  widgetId: WidgetId | null;
  lastDay?: string;
};

/**
 * Everything a report needs, read in one statement and therefore from one snapshot: a switch to another time zone, or a visit
 * being recorded, is included completely or not at all. Days come only from the local-day counters. The lists use the longest
 * spans in the middle of the window, shorter ones around them and single days at both ends: see listParts and funnel/recount/key-spans.ts.
 * Served by the primary keys of the three tables, regardless of the number of events.
 */
export async function selectAnalytics(
  db: Db,
  owner: OrganizationId,
  window: CountedWindow,
): Promise<AnalyticsCounts | null> {
  const { zone = null, lastDay = null, widgetId, ...rest } = window;
  const values = { owner, zone, lastDay, ...rest };
  if (widgetId === null) return toCounts(await allWidgets.run(db, values));
  return toCounts(await oneWidget.run(db, { widgetId, ...values }));
}

type WindowValues = Pick<CountedWindow, "days" | "now" | "keptSince"> & {
  owner: OrganizationId;
  zone: string | null;
  lastDay: string | null;
};

// There are two statements, because a prepared name stands for one text and single widgets have fewer lengths of spans.

const allWidgets = new FixedStatement<DayRow & ContractLists, WindowValues>(
  (values) => sql`-- prepared: select_analytics
    ${toStatement(values, null)}`,
);

const oneWidget = new FixedStatement<DayRow & ContractLists, WindowValues & { widgetId: WidgetId }>(
  (values) => sql`-- prepared: select_widget_analytics
    ${toStatement(values, values.widgetId)}`,
);

function toStatement(
  { owner, zone, lastDay, days, now, keptSince }: Placeholders<WindowValues>,
  widgetId: WidgetId | null,
): RawBuilder<unknown> {
  const window = { zone, lastDay, days, now, keptSince, widgetId };
  return sql`
    with ${countDays(owner, window)}, ${countKeys(owner, window, sql`kind <= ${sql.lit(LISTED_KINDS.length)}`)}
    select zone, today::text as today, totals.*, ${listForContract(owner)}
    from span cross join (${dayTotals}) totals`;
}

export type ReportCounts = DayCounts & { lists: KeyList[] };

/** The same for the dashboard: more lists, with the number of rows that each has in all. */
export async function selectReport(
  db: Db,
  owner: OrganizationId,
  { rowsMax, ...window }: CountedWindow & { rowsMax: number },
): Promise<ReportCounts | null> {
  const { rows } = await sql<DayRow & { lists: KeyList[] }>`
    with ${countDays(owner, window)}, ${countKeys(owner, window, sql`kind <= ${sql.lit(KEY_KINDS.length)}`)},
      ${countWidgets(owner, window)}
    select zone, today::text as today, totals.*,
      ${listAll(owner, rowsMax)} as lists
    from span cross join (${dayTotals}) totals`.execute(db);
  return toCounts(rows);
}

/** The totals and days of a window without its lists. */
export async function selectDays(db: Db, owner: OrganizationId, window: CountedWindow): Promise<DayCounts | null> {
  const { rows } = await sql<DayRow>`-- prepared: select_days
    with ${countDays(owner, window)}
    select zone, today::text as today, totals.* from span cross join (${dayTotals}) totals`.execute(db);
  return toCounts(rows);
}

/** CTEs `span`, the days of the window, and `day_counts`. All are empty if the counters are of another zone. */
export function countDays(owner: OrganizationId, window: CountedWindow): RawBuilder<unknown> {
  return sql`local as (
      select zone, version, spans_sealed_before as sealed_before,
        coalesce(${window.lastDay ?? null}::date, ${localDay(sql`day_zones.rules`, sql`${window.now}::timestamptz`)}) as today,
        ${localDay(sql`day_zones.rules`, sql`greatest(${window.keptSince}::timestamptz, kept_since)`)} as oldest_day
      from day_zones where organization_id = ${owner} and zone = ${shownZone(owner, window)}
    ), span as (
      select zone, version, least(sealed_before, ${spanStart(sql`(today + 1)`, SHORTEST_SPAN)}) as sealed_before, today,
        greatest(today - (${window.days}::integer - 1), oldest_day) as first_day
      from local
    ), day_counts as (
      select day, reached_1, reached_2, reached_3, reached_4, reached_5, reached_6, no_availability, bookings, failed,
        lead_ms, lead_count, ${visitsStarted} as views
      from span
      join funnel_days on organization_id = ${owner} and funnel_days.version = span.version
        and widget_id = ${window.widgetId ?? ALL_WIDGETS} and day between first_day and today
    )`;
}

/** CTE `key_counts`: what is counted under each key of some kinds. */
export function countKeys(
  owner: OrganizationId,
  { widgetId }: Pick<CountedWindow, "widgetId">,
  isListed: RawBuilder<unknown>,
): RawBuilder<unknown> {
  const lengths = widgetId === null ? SPAN_LENGTHS : WIDGET_SPAN_LENGTHS;
  return sql`edges as materialized (
      select version, first_day, today + 1 as after_today, ${sql.join(lengths.flatMap(toEdges))}
      from span
    ), key_counts as materialized (
      select kind, key as id, sum(views) as views, sum(bookings) as bookings
      from (${listParts({ owner, widgetId: widgetId ?? ALL_WIDGETS, lengths, isListed })}) parts
      group by kind, key
      having sum(views) <> 0 or sum(bookings) <> 0
    )`;
}

/** CTE `widget_counts`. */
export function countWidgets(
  owner: OrganizationId,
  { widgetId }: Pick<CountedWindow, "widgetId">,
): RawBuilder<unknown> {
  return sql`widget_counts as materialized (
      select widget_id, sum(${visitsStarted}) as views, sum(bookings) as bookings
      from span
      join funnel_days on organization_id = ${owner} and funnel_days.version = span.version
        and widget_id ${widgetId === null ? sql`<> ${ALL_WIDGETS}` : sql`= ${widgetId}`} and day between first_day and today
      group by widget_id
      having sum(${visitsStarted}) <> 0 or sum(bookings) <> 0
    )`;
}

const dayTotals = sql`
      select to_json(coalesce(array_agg(day), '{}')) as days, to_json(coalesce(array_agg(views), '{}')) as day_views,
        to_json(coalesce(array_agg(bookings), '{}')) as day_bookings,
        array[coalesce(sum(reached_1), 0), coalesce(sum(reached_2), 0), coalesce(sum(reached_3), 0),
          coalesce(sum(reached_4), 0), coalesce(sum(reached_5), 0), coalesce(sum(reached_6), 0)]::float8[] as reached,
        coalesce(sum(bookings), 0)::bigint as bookings, coalesce(sum(failed), 0)::bigint as failed,
        coalesce(sum(no_availability), 0)::bigint as no_availability,
        coalesce(sum(lead_ms), 0)::bigint as lead_ms, coalesce(sum(lead_count), 0)::bigint as lead_count
      from day_counts`;

function shownZone(owner: OrganizationId, { zone }: CountedWindow): RawBuilder<string> {
  return sql`coalesce(${zone ?? null}::text, (select coalesce(time_zone, 'UTC') from organizations where id = ${owner}))`;
}

function toCounts<Row extends DayRow>([first]: readonly Row[]) {
  if (!first) return null;
  const { day_views, day_bookings, ...row } = first;
  const days = row.days.map((day, i) => ({ day, views: day_views[i] ?? 0, bookings: day_bookings[i] ?? 0 }));
  return { ...row, days };
}

/** For each length, where its spans start and end. */
function toEdges(days: number): RawBuilder<unknown>[] {
  const first = spanStart(sql`(first_day + ${sql.lit(days - 1)})`, days);
  const last = spanStart(sql`sealed_before`, days);
  return [
    sql`${first} as ${sql.ref(`first_${days}`)}`,
    sql`greatest(${last}, ${first}) as ${sql.ref(`after_${days}`)}`,
  ];
}

type ListedCounts = {
  owner: OrganizationId;
  widgetId: string;
  /** At least one. */
  lengths: readonly number[];
  isListed: RawBuilder<unknown>;
};

/**
 * The window without gaps and overlaps: days, spans of growing and then shrinking length, days. The edges are scalars, which
 * saves joining every row with them.
 */
function listParts({ owner, widgetId, lengths, isListed }: ListedCounts): RawBuilder<unknown> {
  const edge = (name: string) => sql`(select ${sql.ref(name)} from edges)`;
  const counts = (table: string) => sql`
    select kind, key, views, bookings from ${sql.table(table)}
    where ${isListed} and organization_id = ${owner} and version = ${edge("version")} and widget_id = ${widgetId}`;
  const days = counts("funnel_key_days");
  const spans = (length: number, from: RawBuilder<unknown>, to: RawBuilder<unknown>) =>
    sql`${counts("funnel_key_spans")} and span_days = ${sql.lit(length)} and start_day >= ${from} and start_day < ${to}`;
  const firstOf = (length: number) => edge(`first_${length}`);
  const afterOf = (length: number) => edge(`after_${length}`);
  const [shortest, longest] = [lengths[0], lengths.at(-1)] as [number, number];
  const pairs = lengths.slice(1).map((longer, i) => ({ shorter: lengths[i] as number, longer }));
  const parts = [
    sql`${days} and day >= ${edge("first_day")} and day < least(${firstOf(shortest)}, ${edge("after_today")})`,
    ...pairs.map(({ shorter, longer }) =>
      spans(shorter, firstOf(shorter), sql`least(${firstOf(longer)}, ${afterOf(shorter)})`),
    ),
    spans(longest, firstOf(longest), afterOf(longest)),
    ...pairs.toReversed().map(({ shorter, longer }) => spans(shorter, afterOf(longer), afterOf(shorter))),
    sql`${days} and day >= ${afterOf(shortest)} and day < ${edge("after_today")}`,
  ];
  return sql.join(parts, sql` union all `);
}

/** The oldest day with counts within retention, null before the first view; undefined if the counters are of another zone. */
export async function selectDataSince(
  db: Db,
  owner: OrganizationId,
  { zone, keptSince, widgetId }: { zone: string; keptSince: Date; widgetId: WidgetId | null },
): Promise<string | null | undefined> {
  const { rows } = await sql<{ data_since: string | null }>`-- prepared: select_data_since
    with local as (
      select version, ${localDay(sql`day_zones.rules`, sql`greatest(${keptSince}::timestamptz, kept_since)`)} as oldest_day
      from day_zones where organization_id = ${owner} and zone = ${zone}
    )
    select (
      select min(day) from funnel_days
      where organization_id = ${owner} and funnel_days.version = local.version
        and widget_id = ${widgetId ?? ALL_WIDGETS} and day >= oldest_day and (${visitsStarted} > 0 or bookings > 0 or failed > 0)
    ) as data_since
    from local`.execute(db);
  return rows[0]?.data_since;
}

/** Events dropped in the window. */
export async function countDrops(
  db: Db,
  owner: OrganizationId,
  { offsets, widgetId }: Pick<LocalWindow, "offsets"> & { widgetId: WidgetId | null },
): Promise<number> {
  const [from, until] = [
    offsets.map(({ fromMs }) => new Date(fromMs)),
    offsets.map(({ untilMs }) => new Date(untilMs)),
  ];
  const { rows } = await sql<{ events: number }>`-- prepared: count_drops
    select coalesce(sum(events), 0)::bigint as events from funnel_drops
    where organization_id = ${owner} and (${widgetId}::text is null or widget_id = ${widgetId}) and exists (
      select from unnest(${from}::timestamptz[], ${until}::timestamptz[]) as part (from_at, until_at)
      where hour >= from_at and hour < until_at
    )`.execute(db);
  return rows[0]?.events ?? 0;
}
