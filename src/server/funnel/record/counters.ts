import { sql } from "kysely";
import { FUNNEL_STEPS, type Step } from "#contract/steps.ts";
import { SPAN_LENGTHS, spanStart } from "../recount/key-spans.ts";
import { toStepBit } from "./touch.ts";

// From visits to counters. Recording and rebuilding both end in these fragments: they read the common table expression
// `sides` (a visit as it was, with sign -1, and as it is now, with sign 1) and add up what the sides contribute.

/**
 * The sets of counters that visits are counted in, from the CTE `zones` (rows of day_zones): the one that is read and, while
 * one is being built, that one too, for the visits up to its mark.
 */
export const counterSets = sql`
  select organization_id, version, zone, sealed_before, null::text as mark_widget_id, null::uuid as mark_visit_id
  from zones
  union all
  select organization_id, building_version, building_zone, building_sealed_before, building_widget_id, building_visit_id
  from zones where building_version is not null`;

/** The furthest of the six funnel steps; whatever else a visit did, it saw the widget. */
const furthest = sql`case ${sql.join(
  FUNNEL_STEPS.map((step, index) => sql`when ${took(step)} then ${sql.lit(index + 1)}`).toReversed(),
  sql` `,
)} else 1 end`;

function took(step: Step) {
  return sql`steps & ${sql.lit(toStepBit(step))} <> 0`;
}

/** One row per conversion, with the local day of its own instant. */
const conversions = sql`
  select organization_id, version, sealed_before, widget_id, sign, source, medium, campaign, channel, day,
    (name like 'booking_completed:%')::integer as is_booking,
    case when times ->> 1 is not null then greatest((times ->> 1)::bigint - (times ->> 0)::bigint, 0) end as lead_ms
  from sides
  cross join lateral jsonb_each(conversions) as conversion (name, times)
  cross join lateral (
    select ((timestamptz 'epoch' + (times ->> 0)::bigint * interval '1 millisecond') at time zone zone)::date as day
  ) local
  where conversions is not null`;

/** The name of the row that counts all widgets together. */
const widgetOrAll = sql`case when grouping(widget_id) = 1 then '' else widget_id end`;

/** Changes per organization, set of counters, local day, and both the widget and all widgets together (''). */
export const countDays = sql`
  select organization_id, version, ${widgetOrAll} as widget_id, day,
    coalesce(sum(sign) filter (where furthest = 1), 0) as reached_1,
    coalesce(sum(sign) filter (where furthest = 2), 0) as reached_2,
    coalesce(sum(sign) filter (where furthest = 3), 0) as reached_3,
    coalesce(sum(sign) filter (where furthest = 4), 0) as reached_4,
    coalesce(sum(sign) filter (where furthest = 5), 0) as reached_5,
    coalesce(sum(sign) filter (where furthest = 6), 0) as reached_6,
    coalesce(sum(sign) filter (where has_no_availability), 0) as no_availability,
    coalesce(sum(sign) filter (where is_booking = 1), 0) as bookings,
    coalesce(sum(sign) filter (where is_booking = 0), 0) as failed,
    coalesce(sum(sign * lead_ms) filter (where lead_ms is not null), 0) as lead_ms,
    coalesce(sum(sign) filter (where lead_ms is not null), 0) as lead_count
  from (
    select organization_id, version, widget_id, (started_at at time zone zone)::date as day, sign, ${furthest} as furthest,
      ${took("no_availability")} as has_no_availability, null::integer as is_booking, null::bigint as lead_ms
    from sides
    union all
    select organization_id, version, widget_id, day, sign, null, false, is_booking, lead_ms
    from (${conversions}) converted
  ) parts
  group by grouping sets ((organization_id, version, widget_id, day), (organization_id, version, day))`;

/**
 * Changes per channel, source / medium and campaign. A visit that only got further in the funnel changes none. Visits of one
 * class are added up first: most of a batch is of a few classes, and each class counts in six places.
 */
export const countKeys = sql`
  select organization_id, version, sealed_before, ${widgetOrAll} as widget_id, day,
    case when channel is not null then 'channel' when campaign is not null then 'campaign' else 'source' end as kind,
    coalesce(channel, campaign, source_medium) as key,
    sum(views)::integer as views, sum(bookings)::integer as bookings
  from (
    select organization_id, version, sealed_before, day, widget_id, source || ' / ' || medium as source_medium, campaign,
      channel, sum(views) as views, sum(bookings) as bookings
    from (
      select organization_id, version, sealed_before, widget_id, (started_at at time zone zone)::date as day,
        source, medium, campaign, channel, sign as views, 0 as bookings
      from sides where moves_keys
      union all
      select organization_id, version, sealed_before, widget_id, day, source, medium, campaign, channel, 0, sign
      from (${conversions}) converted where is_booking = 1
    ) parts
    group by organization_id, version, sealed_before, day, widget_id, source, medium, campaign, channel
  ) classes
  group by grouping sets (
    (organization_id, version, sealed_before, day, widget_id, channel),
    (organization_id, version, sealed_before, day, widget_id, source_medium),
    (organization_id, version, sealed_before, day, widget_id, campaign),
    (organization_id, version, sealed_before, day, channel),
    (organization_id, version, sealed_before, day, source_medium),
    (organization_id, version, sealed_before, day, campaign)
  )
  having sum(views) <> 0 or sum(bookings) <> 0`;

export const addDays = sql`
  insert into funnel_days as counted (organization_id, version, widget_id, day, reached_1, reached_2, reached_3, reached_4,
    reached_5, reached_6, no_availability, bookings, failed, lead_ms, lead_count)
  select organization_id, version, widget_id, day, reached_1, reached_2, reached_3, reached_4, reached_5, reached_6,
    no_availability, bookings, failed, lead_ms, lead_count
  from counted_days
  where (reached_1, reached_2, reached_3, reached_4, reached_5, reached_6, no_availability, bookings, failed, lead_ms,
    lead_count) <> (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
  order by organization_id, version, widget_id, day
  on conflict (organization_id, version, widget_id, day) do update set
    reached_1 = counted.reached_1 + excluded.reached_1, reached_2 = counted.reached_2 + excluded.reached_2,
    reached_3 = counted.reached_3 + excluded.reached_3, reached_4 = counted.reached_4 + excluded.reached_4,
    reached_5 = counted.reached_5 + excluded.reached_5, reached_6 = counted.reached_6 + excluded.reached_6,
    no_availability = counted.no_availability + excluded.no_availability,
    bookings = counted.bookings + excluded.bookings, failed = counted.failed + excluded.failed,
    lead_ms = counted.lead_ms + excluded.lead_ms, lead_count = counted.lead_count + excluded.lead_count`;

export const addKeys = sql`
  insert into funnel_key_days as counted (organization_id, version, widget_id, day, kind, key, views, bookings)
  select organization_id, version, widget_id, day, kind, key, views, bookings
  from counted_keys order by organization_id, version, widget_id, day, kind, key
  on conflict (organization_id, version, widget_id, day, kind, key) do update set
    views = counted.views + excluded.views, bookings = counted.bookings + excluded.bookings`;

/** Late arrivals for spans that have been added up already. */
export const addSpans = sql`
  insert into funnel_key_spans as counted (organization_id, version, widget_id, span_days, start_day, kind, key, views,
    bookings)
  select organization_id, version, widget_id, span_days, start_day, kind, key, sum(views), sum(bookings)
  from counted_keys
  cross join (values ${sql.join(SPAN_LENGTHS.map((days) => sql`(${sql.lit(days)})`))}) span (span_days)
  cross join lateral (select ${spanStart(sql`day`, sql`span_days`)} as start_day) start
  where day < sealed_before and start_day + span_days <= sealed_before
  group by organization_id, version, widget_id, span_days, start_day, kind, key
  order by organization_id, version, widget_id, span_days, start_day, kind, key
  on conflict (organization_id, version, widget_id, span_days, start_day, kind, key) do update set
    views = counted.views + excluded.views, bookings = counted.bookings + excluded.bookings`;
