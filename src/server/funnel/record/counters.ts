import { type RawBuilder, sql } from "kysely";
import type { Home } from "../../db/engine.ts";
import { hasSpans, SPAN_LENGTHS, spanStart } from "../recount/key-spans.ts";
import { KEY_KINDS, toKindNumber } from "./key-id.ts";
import { localDayNear } from "./local-day.ts";

// From visits to counters. Recording and recounting both end in these fragments. They read the common table expression `sides`:
// each visit as it is, with sign 1, and as it was, with sign -1, once for each set of counters it belongs to. The columns of
// `sides` are organization_id, version, day_rules, period_from, period_until, shift, sealed_before, widget_id, sign, moves_keys
// and those of SIDE_COLUMNS.

/** The columns of funnel_visits that counters depend on. */
export const SIDE_COLUMNS = [
  "started_at",
  ...KEY_KINDS,
  "service_at",
  "date_at",
  "slot_at",
  "form_at",
  "no_availability_at",
  "bookings",
  "failures",
] as const;

/** Of a row of funnel_days: each visit is counted once, under the furthest step it reached. */
export const visitsStarted = sql`reached_1 + reached_2 + reached_3 + reached_4 + reached_5 + reached_6`;

/**
 * The furthest of the six funnel steps, from 1. Every visit has seen the widget, and every attempt to book includes
 * picking a time and starting the form. So a visit that picked a time counts as having picked a day, as the contract says.
 */
export const furthest = sql`case
  when bookings is not null then 6
  when form_at is not null or failures is not null then 5
  when slot_at is not null then 4
  when date_at is not null then 3
  when service_at is not null then 2
  else 1 end`;

/** Each booking, or each failure, with its own instant. */
function listConversions(map: "bookings" | "failures"): RawBuilder<unknown> {
  return sql`
    select organization_id, version, day_rules, period_from, period_until, shift, sealed_before, widget_id, sign,
      ${sql.join(KEY_KINDS.map((kind) => sql.ref(kind)))},
      timestamptz 'epoch' + (times ->> 0)::bigint * interval '1 millisecond' as at, (times ->> 1)::bigint as lead_ms
    from sides cross join lateral jsonb_each(${sql.ref(map)}) as conversion (key, times)
    where ${sql.ref(map)} is not null`;
}

const place = sql`cross join lateral (values (widget_id), ('')) place (counted_widget_id)`;

/** CTEs `day_changes` and `key_changes`: the changes per local day, for the widget and for all widgets ('') together. */
export const changes = sql`
    booked as materialized (
      select booking.*, ${localDayNear(sql`at`)} as day from (${listConversions("bookings")}) booking
    ), day_changes as (
      select organization_id, version, counted_widget_id as widget_id, day,
        coalesce(sum(sign) filter (where furthest = 1), 0) as reached_1,
        coalesce(sum(sign) filter (where furthest = 2), 0) as reached_2,
        coalesce(sum(sign) filter (where furthest = 3), 0) as reached_3,
        coalesce(sum(sign) filter (where furthest = 4), 0) as reached_4,
        coalesce(sum(sign) filter (where furthest = 5), 0) as reached_5,
        coalesce(sum(sign) filter (where furthest = 6), 0) as reached_6,
        coalesce(sum(sign) filter (where finds_nothing), 0) as no_availability,
        coalesce(sum(sign) filter (where is_booking), 0) as bookings,
        coalesce(sum(sign) filter (where not is_booking), 0) as failed,
        coalesce(sum(sign * lead_ms), 0) as lead_ms,
        coalesce(sum(sign) filter (where lead_ms is not null), 0) as lead_count
      from (
        select organization_id, version, widget_id, ${localDayNear(sql`started_at`)} as day, sign, ${furthest} as furthest,
          no_availability_at is not null as finds_nothing, null::boolean as is_booking, null::bigint as lead_ms
        from sides
        union all
        select organization_id, version, widget_id, day, sign, null, false, true, lead_ms from booked
        union all
        select organization_id, version, widget_id, ${localDayNear(sql`at`)}, sign, null, false, false, null
        from (${listConversions("failures")}) failure
      ) parts
      ${place}
      group by organization_id, version, counted_widget_id, day
    ), classes as (
      select organization_id, version, sealed_before, day, widget_id, ${sql.join(KEY_KINDS.map((kind) => sql.ref(kind)))},
        sum(views)::integer as views, sum(bookings)::integer as bookings
      from (
        select organization_id, version, sealed_before, ${localDayNear(sql`started_at`)} as day, widget_id,
          ${sql.join(KEY_KINDS.map((kind) => sql.ref(kind)))}, sign as views, 0 as bookings
        from sides where moves_keys
        union all
        select organization_id, version, sealed_before, day, widget_id,
          ${sql.join(KEY_KINDS.map((kind) => sql.ref(kind)))}, 0, sign
        from booked
      ) parts
      group by organization_id, version, sealed_before, day, widget_id, ${sql.join(KEY_KINDS.map((kind) => sql.ref(kind)))}
    ), key_changes as (
      select organization_id, version, sealed_before, counted_widget_id as widget_id, day, kind, key,
        sum(views)::integer as views, sum(bookings)::integer as bookings
      from classes
      ${place}
      cross join lateral (values ${sql.join(
        KEY_KINDS.map((kind) => sql`(${sql.lit(toKindNumber(kind))}::smallint, ${sql.ref(kind)})`),
      )}) keyed (kind, key)
      group by organization_id, version, sealed_before, counted_widget_id, day, kind, key
      having sum(views) <> 0 or sum(bookings) <> 0
    )`;

export const DAY_SUMS = [
  ...["reached_1", "reached_2", "reached_3", "reached_4", "reached_5", "reached_6"],
  ...["no_availability", "bookings", "failed", "lead_ms", "lead_count"],
];
const daySums = sql.join(DAY_SUMS.map((name) => sql.ref(name)));

/** Changes that belong to one set of one organization: sorting them by both would only take time. */
type OneSet = { readonly condition: RawBuilder<unknown> };

export function insertDays({ id, join }: Home, oneSet?: OneSet): RawBuilder<unknown> {
  return sql`
  insert into funnel_days as counted (organization_id, version, widget_id, day, ${daySums})
  select ${id}, version, widget_id, day, ${daySums}
  from day_changes ${join}
  where (${daySums}) <> (${sql.join(DAY_SUMS.map(() => sql.lit(0)))}) and ${oneSet?.condition ?? sql`true`}
  order by ${oneSet ? sql`` : sql`${id}, version,`} widget_id, day`;
}

export function insertKeyDays({ id, join }: Home, oneSet?: OneSet): RawBuilder<unknown> {
  return sql`
  insert into funnel_key_days as counted (organization_id, version, widget_id, day, kind, key, views, bookings)
  select ${id}, version, widget_id, day, kind, key, views, bookings
  from key_changes ${join} where ${oneSet?.condition ?? sql`true`}
  order by ${oneSet ? sql`` : sql`${id}, version,`} widget_id, day, kind, key`;
}

/** Rows are locked in key order, here and below, so that two recordings never deadlock. */
export const addToDays = (home: Home) => sql`${insertDays(home)}
  on conflict (organization_id, version, widget_id, day) do update set ${sql.join(DAY_SUMS.map(addUp))}`;

export const addToKeyDays = (home: Home) => sql`${insertKeyDays(home)}
  on conflict (organization_id, version, widget_id, day, kind, key) do update set ${sql.join(["views", "bookings"].map(addUp))}`;

/** Late changes to sealed spans. */
export const addToSpans = ({ id, join }: Home) => sql`
  insert into funnel_key_spans as counted (organization_id, version, widget_id, span_days, start_day, kind, key, views,
    bookings)
  select ${id}, version, widget_id, span_days, start_day, kind, key, sum(views), sum(bookings)
  from key_changes ${join}
  cross join (values ${sql.join(SPAN_LENGTHS.map((days) => sql`(${sql.lit(days)})`))}) span (span_days)
  cross join lateral (select ${spanStart(sql`day`, sql`span_days`)} as start_day) start
  where day < sealed_before and start_day + span_days <= sealed_before and ${hasSpans(sql`widget_id`, sql`span_days`)}
  group by ${id}, version, widget_id, span_days, start_day, kind, key
  order by ${id}, version, widget_id, span_days, start_day, kind, key
  on conflict (organization_id, version, widget_id, span_days, start_day, kind, key)
    do update set ${sql.join(["views", "bookings"].map(addUp))}`;

function addUp(column: string): RawBuilder<unknown> {
  return sql`${sql.ref(column)} = ${sql.ref(`counted.${column}`)} + ${sql.ref(`excluded.${column}`)}`;
}
