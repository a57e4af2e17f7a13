import { sql } from "kysely";

// From visits to counters. Recording and rebuilding both end in these fragments: they read the common table expression
// `sides` (a visit as it was, with sign -1, and as it is now, with sign 1) and add up what the sides contribute.

/** The furthest of the six funnel steps; whatever else a visit did, it saw the widget. */
const furthest = sql`case when steps & 32 <> 0 then 6 when steps & 16 <> 0 then 5 when steps & 8 <> 0 then 4
  when steps & 4 <> 0 then 3 when steps & 2 <> 0 then 2 else 1 end`;

const NO_AVAILABILITY_BIT = sql`64`;

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

/** Changes per organization, set of counters, local day, and both the widget and all widgets together (''). */
export const countDays = sql`
  select organization_id, version, scope.widget_id, day,
    sum(reached_1) as reached_1, sum(reached_2) as reached_2, sum(reached_3) as reached_3, sum(reached_4) as reached_4,
    sum(reached_5) as reached_5, sum(reached_6) as reached_6, sum(no_availability) as no_availability,
    sum(bookings) as bookings, sum(failed) as failed, sum(lead_ms) as lead_ms, sum(lead_count) as lead_count
  from (
    select organization_id, version, widget_id, (started_at at time zone zone)::date as day,
      sign * (furthest = 1)::integer as reached_1, sign * (furthest = 2)::integer as reached_2,
      sign * (furthest = 3)::integer as reached_3, sign * (furthest = 4)::integer as reached_4,
      sign * (furthest = 5)::integer as reached_5, sign * (furthest = 6)::integer as reached_6,
      sign * (steps & ${NO_AVAILABILITY_BIT} <> 0)::integer as no_availability,
      0 as bookings, 0 as failed, 0::bigint as lead_ms, 0 as lead_count
    from sides cross join lateral (select ${furthest} as furthest) step
    union all
    select organization_id, version, widget_id, day, 0, 0, 0, 0, 0, 0, 0,
      sign * is_booking, sign * (1 - is_booking), sign * coalesce(lead_ms, 0), sign * (lead_ms is not null)::integer
    from (${conversions}) converted
  ) parts
  cross join lateral (values (parts.widget_id), ('')) as scope (widget_id)
  group by organization_id, version, scope.widget_id, day`;

/** Changes per channel, source / medium and campaign. A visit that only got further in the funnel changes none. */
export const countKeys = sql`
  select organization_id, version, sealed_before, scope.widget_id, day, key.kind, key.key,
    sum(views)::integer as views, sum(bookings)::integer as bookings
  from (
    select organization_id, version, sealed_before, widget_id, (started_at at time zone zone)::date as day,
      source, medium, campaign, channel, sign as views, 0 as bookings
    from sides where moves_keys
    union all
    select organization_id, version, sealed_before, widget_id, day, source, medium, campaign, channel, 0, sign * is_booking
    from (${conversions}) converted where is_booking = 1
  ) parts
  cross join lateral (values (parts.widget_id), ('')) as scope (widget_id)
  cross join lateral (values ('channel', channel), ('source', source || ' / ' || medium), ('campaign', campaign))
    as key (kind, key)
  group by organization_id, version, sealed_before, scope.widget_id, day, key.kind, key.key
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

/** Late arrivals for months that have been added up already. */
export const addMonths = sql`
  insert into funnel_key_months as counted (organization_id, version, widget_id, month, kind, key, views, bookings)
  select organization_id, version, widget_id, date_trunc('month', day::timestamp)::date as month, kind, key, sum(views), sum(bookings)
  from counted_keys where day < sealed_before
  group by organization_id, version, widget_id, date_trunc('month', day::timestamp)::date, kind, key
  order by organization_id, version, widget_id, month, kind, key
  on conflict (organization_id, version, widget_id, month, kind, key) do update set
    views = counted.views + excluded.views, bookings = counted.bookings + excluded.bookings`;
