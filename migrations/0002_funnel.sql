-- Anonymous funnel events, the visits they make up, and the counters that analytics reads.

-- The zone that an organization's local days are counted in. `version` names the set of counters that is read now.
-- While another set is being built, building_* are set, the last two being the visit it has got to: visits up to and including
-- that one are counted in it. Finishing switches `version` over in one update, so readers see one set or the other.
create table day_zones (
  organization_id text primary key references organizations (id),
  zone text not null,
  version integer not null,
  -- Spans that end by this day are added up in funnel_key_spans.
  sealed_before date not null,
  -- Days before the one of this instant have been deleted, by whichever plan it was then.
  kept_since timestamptz(3) not null default '1970-01-01',
  building_zone text,
  building_version integer,
  building_sealed_before date,
  building_widget_id text,
  building_visit_id uuid
);
insert into day_zones (organization_id, zone, version, sealed_before)
select id, coalesce(time_zone, 'UTC'), 1, '1970-01-01' from organizations;

-- Text in these tables compares byte by byte, the same on every server: which of two simultaneous events starts a visit, and
-- which of two equal keys is listed first, must not depend on a locale.

-- The truth: every event that was recorded, each once. Nothing here names a person or a machine. conversion_key tells apart
-- several bookings, or several failed attempts, of one visit; it is empty for the other steps.
create table funnel_events (
  organization_id text collate "C" not null,
  widget_id text collate "C" not null,
  visit_id uuid not null,
  at timestamptz(3) not null,
  step text collate "C" not null,
  conversion_key text collate "C" not null,
  page text collate "C" not null,
  source text collate "C" not null,
  medium text collate "C" not null,
  campaign text collate "C" not null,
  channel text collate "C" not null,
  device text collate "C" not null,
  country text collate "C" not null,
  start_at timestamptz(3),
  variant bigint not null,
  primary key (organization_id, widget_id, visit_id, at, step, conversion_key, variant)
);
comment on column funnel_events.start_at is 'appointment, on booking_completed';
comment on column funnel_events.variant is 'hash of the columns outside the key: the same event again is one row, a contradicting one another row';

-- A visit is what its events add up to, whatever their order: the earliest event gives start and class, steps are a set of
-- bits (contract/steps.ts: the n-th of STEPS is bit n), and conversions maps "booking_completed:KEY" or
-- "booking_failed:KEY" to [milliseconds of the instant, milliseconds of the appointment or null].
create table funnel_visits (
  organization_id text collate "C" not null,
  widget_id text collate "C" not null,
  visit_id uuid not null,
  started_at timestamptz(3) not null,
  last_at timestamptz(3) not null,
  steps integer not null,
  page text collate "C" not null,
  source text collate "C" not null,
  medium text collate "C" not null,
  campaign text collate "C" not null,
  channel text collate "C" not null,
  device text collate "C" not null,
  country text collate "C" not null,
  conversions jsonb,
  primary key (organization_id, widget_id, visit_id)
) with (fillfactor = 85);
create index funnel_visits_by_start on funnel_visits (organization_id, started_at);

-- Counters per local day; widget_id '' counts all widgets together. reached_n counts visits whose furthest step is the n-th.
create table funnel_days (
  organization_id text collate "C" not null,
  version integer not null,
  widget_id text collate "C" not null,
  day date not null,
  reached_1 integer not null,
  reached_2 integer not null,
  reached_3 integer not null,
  reached_4 integer not null,
  reached_5 integer not null,
  reached_6 integer not null,
  no_availability integer not null,
  bookings integer not null,
  failed integer not null,
  lead_ms bigint not null,
  lead_count integer not null,
  primary key (organization_id, version, widget_id, day)
) with (fillfactor = 50);

-- Views and bookings per local day and per channel, source / medium pair, and campaign.
create table funnel_key_days (
  organization_id text collate "C" not null,
  version integer not null,
  widget_id text collate "C" not null,
  day date not null,
  kind text collate "C" not null,
  key text collate "C" not null,
  views integer not null,
  bookings integer not null,
  primary key (organization_id, version, widget_id, day, kind, key)
) with (fillfactor = 70);

-- The same added up over spans of 8 and of 64 days that are over, counted from 1 January 1970, so that a long window reads few
-- rows; what comes in late is added to them as well.
create table funnel_key_spans (
  organization_id text collate "C" not null,
  version integer not null,
  widget_id text collate "C" not null,
  span_days integer not null,
  start_day date not null,
  kind text collate "C" not null,
  key text collate "C" not null,
  views integer not null,
  bookings integer not null,
  primary key (organization_id, version, widget_id, span_days, start_day, kind, key)
) with (fillfactor = 90);

-- Unites two sets of conversions; of two instants given for one, the earlier counts, and then the
-- earlier appointment.
create function unite_conversions(a jsonb, b jsonb) returns jsonb language sql immutable parallel safe as $$
  select case
    when a is null then b
    when b is null then a
    else (
      select jsonb_object_agg(key, value) from (
        select distinct on (key) key, value
        from (select key, value from jsonb_each(a) union all select key, value from jsonb_each(b)) both_sets
        order by key, (value ->> 0)::bigint, (value ->> 1)::bigint nulls last
      ) united
    )
  end
$$;
