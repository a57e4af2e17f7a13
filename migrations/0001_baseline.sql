-- The whole schema: one baseline, since nothing had been deployed before it. Later changes are new, forward-only files.
--
-- Ids compare byte by byte (collate "C"), the same on every server. Tables that grow with traffic begin their key with
-- organization_id.

-- Organizations, their scheduling systems, widgets and API keys

create table organizations (
  id text collate "C" primary key,
  name text not null,
  plan text not null check (plan in ('free', 'pro', 'business')),
  time_zone text,
  created_at timestamptz(3) not null
);
comment on column organizations.time_zone is 'IANA name; null means UTC';

create table scheduling_connections (
  id text primary key,
  organization_id text collate "C" not null references organizations (id),
  kind text not null check (kind in ('microsoft-bookings', 'calcom', 'calendly')),
  name text not null,
  settings jsonb not null,
  credentials bytea not null,
  -- Health: what the system said last.
  last_ok_at timestamptz(3),
  last_error text,
  last_error_at timestamptz(3),
  last_error_status integer,
  last_error_request_id text,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  check ((last_error is null) = (last_error_at is null)),
  unique (organization_id, id)
);
comment on column scheduling_connections.credentials is 'sealed under SECRET_KEY';
comment on column scheduling_connections.updated_at is 'changes with settings and credentials, never with health';
comment on column scheduling_connections.last_error_request_id is 'the system''s own id of the request that failed';

create table widgets (
  id text collate "C" primary key,
  organization_id text collate "C" not null references organizations (id),
  name text not null,
  business_name text not null,
  booking_url text,
  connection_id text,
  template text not null check (template in ('classic', 'compact', 'minimal')),
  accent_color text check (accent_color ~ '^#[0-9a-f]{6}$'),
  allowed_domains text[] not null default '{}',
  status text not null check (status in ('active', 'paused')),
  collect_data boolean not null,
  created_at timestamptz(3) not null,
  unique (organization_id, id),
  foreign key (organization_id, connection_id) references scheduling_connections (organization_id, id)
);
comment on column widgets.booking_url is 'null: the direct page of this service';
comment on column widgets.connection_id is 'null: the widget books in its sandbox';
comment on column widgets.accent_color is 'null: the template''s own colour';
comment on column widgets.allowed_domains is 'host names, or *.example.com for every name below one; empty: any page may show the widget';
comment on column widgets.collect_data is 'the Store bookings switch';
create index widgets_by_connection on widgets (organization_id, connection_id) where connection_id is not null;

create table api_keys (
  id text primary key,
  organization_id text collate "C" not null references organizations (id),
  name text not null,
  key_hash bytea not null unique,
  first_characters text not null,
  last_characters text not null,
  created_by text,
  created_at timestamptz(3) not null,
  last_used_at timestamptz(3),
  expires_at timestamptz(3),
  revoked_at timestamptz(3)
);
comment on column api_keys.key_hash is 'SHA-256 of the whole key; the key itself is never kept';
create index api_keys_by_organization on api_keys (organization_id, created_at);

-- Bookings

-- One reference belongs to one booking of one organization, for good. A table of its own, because a unique index on
-- bookings (reference) could not exist once bookings are distributed by organization.
create table booking_references (
  reference text primary key,
  organization_id text collate "C" not null
);

-- The last createdAt given out per organization. The storing transaction holds this row to its end, so createdAt grows
-- strictly and in commit order, which paging and incremental sync rest on.
create table booking_clocks (
  organization_id text collate "C" primary key references organizations (id),
  last_created_at timestamptz(3) not null
);

-- A booking as the read API returns it. Only what the contract names: members of attribution and answers that it doesn't name are
-- left out; null, which the column refuses, if an answer lacks one. Changing the function doesn't change the stored texts: a migration must set the column's expression again.
create function booking_api_json(
  reference text, status text, created_at timestamptz, start_at timestamptz, end_at timestamptz, time_zone text,
  service_id text, service_name text, staff jsonb, customer_name text, customer_email text, customer_phone text,
  customer_notes text, answers jsonb, attribution jsonb, manage_url text
) returns text
  language plpgsql immutable parallel safe
as $$
declare
  iso constant text := 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"';
  attribution_names constant text[] := array[
    'source', 'medium', 'campaign', 'channel', 'pageUrl', 'landingPage', 'referrer', 'utmSource', 'utmMedium', 'utmCampaign',
    'utmTerm', 'utmContent', 'gclid', 'gbraid', 'wbraid', 'fbclid', 'msclkid', 'liFatId', 'ttclid', 'gaClientId', 'fbp', 'fbc',
    'firstSeenAt', 'currentPage', 'touches'
  ];
begin
  return '{"reference":' || to_json(reference) || ',"status":' || to_json(status)
    || ',"createdAt":"' || to_char(created_at at time zone 'UTC', iso)
    || '","start":"' || to_char(start_at at time zone 'UTC', iso)
    || '","end":"' || to_char(end_at at time zone 'UTC', iso)
    || '","timeZone":' || to_json(time_zone)
    || ',"service":{"id":' || to_json(service_id) || ',"name":' || to_json(service_name)
    || '},"staff":' || jsonb_path_query_array(staff, '$[*].name')::text
    || ',"customer":{"name":' || to_json(customer_name) || ',"email":' || to_json(customer_email)
    || ',"phone":' || coalesce(to_json(customer_phone)::text, 'null')
    || ',"notes":' || coalesce(to_json(customer_notes)::text, 'null')
    || '},"answers":[' || (
      select case when count(*) = count(item) then coalesce(string_agg(item, ',' order by place), '') end
      from (
        select place, '{"questionId":' || (answer -> 'questionId')::text || ',"question":' || (answer -> 'question')::text
          || ',"answer":' || (answer -> 'answer')::text || '}' as item
        from jsonb_array_elements(answers) with ordinality as answered (answer, place)
      ) items)
    || '],"attribution":{' || coalesce((
      select string_agg('"' || key || '":' || value::text, ',') from jsonb_each(attribution)
      where key = any(attribution_names)), '')
    || '}' || coalesce(',"manageUrl":' || to_json(manage_url), '') || '}';
end
$$;

create table bookings (
  organization_id text collate "C" not null,
  reference text not null,
  widget_id text collate "C" not null,
  status text not null,
  created_at timestamptz(3) not null,
  start_at timestamptz(3) not null,
  end_at timestamptz(3) not null,
  time_zone text not null,
  service_id text not null,
  service_name text not null,
  staff jsonb not null,
  customer_name text not null,
  customer_email text not null,
  customer_email_key text not null generated always as
    (lower(btrim(normalize(customer_email), E' \t\n\v\f\r\u00A0') collate "pg_c_utf8")) stored,
  customer_phone text,
  customer_notes text,
  answers jsonb not null,
  attribution jsonb not null,
  external_id text,
  manage_url text,
  join_url text,
  lacks_event boolean not null default false,
  api_json text not null generated always as (
    booking_api_json(
      reference, status, created_at, start_at, end_at, time_zone, service_id, service_name, staff, customer_name,
      customer_email, customer_phone, customer_notes, answers, attribution, manage_url
    )
  ) stored,
  primary key (organization_id, reference),
  unique (organization_id, created_at),
  foreign key (organization_id, widget_id) references widgets (organization_id, id)
-- Compressing most bookings would make pages slower to read than it saves space.
) with (toast_tuple_target = 4080);
comment on column bookings.api_json is 'what the read API returns: building it for each page took most of the time of a read';
comment on column bookings.customer_email_key is
  'what erasing by e-mail compares: letters of every alphabet fold the same way on every server, whatever its locale';
comment on column bookings.lacks_event is 'the webhook event could not be written with the booking; a task writes it';
create index bookings_by_widget on bookings (organization_id, widget_id, created_at);
create index bookings_by_email on bookings (organization_id, customer_email_key);
create index bookings_lacking_event on bookings (organization_id, created_at) where lacks_event;

-- One row per request to book, from before the scheduling system is asked until a day after it is settled. It is what makes
-- the same Idempotency-Key give the same answer, and what a task goes by where a process ended in between. While Store
-- bookings is off it holds nothing personal: `copy` (what a stored booking is made of) is set only where it was on, and goes
-- as soon as the row is settled; `answer` then has no links and no time zone.
create table pending_bookings (
  organization_id text collate "C" not null,
  reference text not null,
  widget_id text collate "C" not null,
  asked_in text not null,
  key_hash bytea not null,
  service_id text not null,
  start_at timestamptz(3) not null,
  state text not null check (state in ('asking', 'confirmed', 'failed')),
  -- Whoever asks has until then; after that a task looks the reference up.
  asking_until timestamptz(3) not null,
  -- Until when a lost outcome is looked for.
  given_up_at timestamptz(3) not null,
  -- The touch that the outcome is counted with; anonymous.
  touch jsonb not null,
  copy jsonb,
  erased boolean not null default false,
  -- What the visitor was told, for the same key again.
  failure text,
  answer jsonb,
  created_at timestamptz(3) not null,
  settled_at timestamptz(3),
  primary key (organization_id, reference),
  unique (organization_id, widget_id, key_hash),
  check ((state = 'asking') = (settled_at is null)),
  check (state = 'asking' or copy is null)
);
comment on column pending_bookings.asked_in is 'the id of the connection that was asked, or sandbox';
comment on column pending_bookings.erased is 'the customer was erased meanwhile: whoever settles the booking stores and sends nothing';
create index pending_bookings_asking on pending_bookings (asking_until) where state = 'asking';
create index pending_bookings_settled on pending_bookings (settled_at) where state <> 'asking';

-- Search of stored bookings by parts of names, e-mail addresses, references, services and campaigns (docs/decisions/0010)

-- What a viewer may search, and what only those who may see customers. One field a line: no search reaches over a line's end.
create function booking_open_text(reference text, service_name text, attribution jsonb) returns text
  language sql immutable parallel safe
  return lower(
    normalize(reference || E'\n' || service_name || E'\n' || coalesce(attribution ->> 'campaign', '')) collate "pg_c_utf8"
  );

create function booking_customer_text(customer_name text, customer_email text) returns text
  language sql immutable parallel safe
  return lower(normalize(customer_name || E'\n' || customer_email) collate "pg_c_utf8");

-- Every three letters in a row, each behind the organization and the week that the booking was made in: what is found
-- under one of these is of one organization and one short time, however many bookings there are. `o` and `c` for the two
-- texts, `w` for the widget. bookings/stored/search-terms.ts makes the same words. The cost keeps the planner from filtering by it.
create function booking_grams(
  organization_id text, created_at timestamptz, widget_id text, open_text text, customer_text text
) returns tsvector
  language plpgsql immutable parallel safe cost 10000
as $$
declare
  scope text := substr(organization_id, 5) || floor(extract(epoch from created_at - to_timestamp(0)) / 604800)::integer || ':';
  grams text[] := array[scope || 'w' || widget_id];
  letters text[] := string_to_array(open_text || E'\n\n', null);
begin
  for i in 1 .. cardinality(letters) - 2 loop
    grams := grams || (scope || 'o' || letters[i] || letters[i + 1] || letters[i + 2]);
  end loop;
  letters := string_to_array(customer_text || E'\n\n', null);
  for i in 1 .. cardinality(letters) - 2 loop
    grams := grams || (scope || 'c' || letters[i] || letters[i + 1] || letters[i + 2]);
  end loop;
  return array_to_tsvector(grams);
end
$$;

-- New bookings are put in their places thirty at a time, which halves the work; a search looks through those few as well.
create index bookings_search on bookings using gin (
  booking_grams(
    organization_id, created_at, widget_id,
    booking_open_text(reference, service_name, attribution), booking_customer_text(customer_name, customer_email)
  )
) with (gin_pending_list_limit = 64);
-- Nothing is planned by how often a word occurs.
alter index bookings_search alter column 1 set statistics 0;

-- Anonymous visits, and the counters that analytics reads (docs/decisions/0004)

-- The rules of a time zone as the runtime knows them: its offset from UTC, period by period. `rules` names one set of them
-- and never changes its meaning; a runtime with other rules writes another set. Local days come from here alone, because
-- PostgreSQL's own time zone database may be older.
create table zone_offsets (
  rules text collate "C" not null,
  from_at timestamptz(3) not null,
  until_at timestamptz(3) not null,
  shift interval not null,
  primary key (rules, from_at)
);

-- How an organization's local days are counted. `version` names the set of counters that is read now. While a recount runs,
-- building_* are set, and recording adds its changes to the set `building_version` as well; the recount switches over with
-- one update, so readers see one set or the other.
create table day_zones (
  organization_id text collate "C" primary key references organizations (id),
  zone text not null,
  rules text collate "C" not null,
  -- Release of the time zone database that the rules are from; only a later release starts a recount by itself.
  rules_release text collate "C" not null,
  version integer not null,
  -- Spans that end by this day are added up in funnel_key_spans.
  sealed_before date not null,
  -- Days before the one of this instant have been deleted, by whichever plan it was then.
  kept_since timestamptz(3) not null default '1970-01-01',
  building_version integer,
  building_rules text collate "C",
  check ((building_version is null) = (building_rules is null))
);

-- The texts behind the numbers in funnel_visits and the counters. An id is a hash of kind and text (funnel/record/key-id.ts),
-- so nobody has to look one up before recording. Deleted when unused for as long as visits are kept.
create table funnel_keys (
  organization_id text collate "C" not null,
  id bigint not null,
  kind smallint not null,
  key text collate "C" not null,
  used_on date not null,
  primary key (organization_id, id)
);
comment on column funnel_keys.kind is '1 channel, 2 source / medium, 3 campaign, 4 page, 5 device, 6 country';

-- The truth: a visit, with the earliest instant of each of its steps. Nothing here names a person, a machine or a booking.
-- Two rows of one visit unite by minimum and union alone, so what is stored does not depend on order or repetition.
-- `bookings` and `failures` map a random key to [milliseconds of the instant, milliseconds until the appointment or null].
create table funnel_visits (
  organization_id text collate "C" not null,
  widget_id text collate "C" not null,
  visit_id uuid not null,
  started_at timestamptz(3) not null,
  channel bigint not null,
  source bigint not null,
  campaign bigint not null,
  page bigint not null,
  device bigint not null,
  country bigint not null,
  viewed_at timestamptz(3),
  service_at timestamptz(3),
  date_at timestamptz(3),
  slot_at timestamptz(3),
  form_at timestamptz(3),
  no_availability_at timestamptz(3),
  -- The latest instant given for a booking or a failure.
  converted_at timestamptz(3),
  bookings jsonb,
  failures jsonb,
  primary key (organization_id, widget_id, visit_id)
) with (fillfactor = 85);
comment on column funnel_visits.started_at is 'earliest instant of all; the columns from channel to country are those of that moment';
create index funnel_visits_by_start on funnel_visits (organization_id, started_at);
create index funnel_visits_by_conversion on funnel_visits (organization_id, converted_at) where converted_at is not null;

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

-- Views and bookings per local day and key: channel, source / medium, campaign, page, device, country.
create table funnel_key_days (
  organization_id text collate "C" not null,
  version integer not null,
  widget_id text collate "C" not null,
  day date not null,
  kind smallint not null,
  key bigint not null,
  views integer not null,
  bookings integer not null,
  primary key (organization_id, version, widget_id, day, kind, key)
) with (fillfactor = 80);

-- The same added up over spans of 8 and 64 days that are over, counted from 1 January 1970, so that a long window reads few
-- rows; late arrivals are added to them as well.
create table funnel_key_spans (
  organization_id text collate "C" not null,
  version integer not null,
  widget_id text collate "C" not null,
  span_days integer not null,
  start_day date not null,
  kind smallint not null,
  key bigint not null,
  views integer not null,
  bookings integer not null,
  primary key (organization_id, version, widget_id, span_days, start_day, kind, key)
) with (fillfactor = 90);

-- Events of visits beyond a widget's daily budget, which were not recorded.
create table funnel_drops (
  organization_id text collate "C" not null,
  widget_id text collate "C" not null,
  hour timestamptz(3) not null,
  events integer not null,
  primary key (organization_id, widget_id, hour)
);

-- Unites two maps of bookings or failures: the earlier instant given for a key counts, then the shorter lead time.
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

-- Endpoints, webhook events, their deliveries and attempts, and the queue of what is to be sent

create table endpoints (
  id text primary key,
  organization_id text collate "C" not null references organizations (id),
  kind text not null check (kind in ('webhook', 'teams', 'slack')),
  url text not null,
  sealed_url bytea,
  -- Counts changes of the URL. What an earlier receiver answered says nothing about the current one.
  receiver integer not null default 1,
  description text not null,
  status text not null check (status in ('enabled', 'disabled')),
  disabled_reason text check (disabled_reason in ('manual', 'gone', 'failing')),
  disabled_at timestamptz(3),
  secret bytea not null,
  secret_hint text not null,
  secret_created_at timestamptz(3) not null,
  previous_secret bytea,
  previous_secret_expires_at timestamptz(3),
  -- Health: since the last success, or since the beginning.
  failing_since timestamptz(3),
  failed_attempts integer not null default 0,
  exhausted_deliveries integer not null default 0,
  refused_deliveries integer not null default 0,
  last_attempt_at timestamptz(3),
  last_success_at timestamptz(3),
  last_status integer,
  paused_until timestamptz(3),
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  removed_at timestamptz(3),
  check ((status = 'disabled') = (disabled_reason is not null)),
  unique (organization_id, id)
) with (fillfactor = 50);
comment on column endpoints.url is 'of a chat only what may be shown: host and last characters';
comment on column endpoints.sealed_url is 'the whole URL of a chat, which is a password, sealed under SECRET_KEY';
comment on column endpoints.secret is 'sealed under SECRET_KEY';
comment on column endpoints.refused_deliveries is 'deliveries in a row that a chat refused for good';
comment on column endpoints.removed_at is 'kept for the delivery log; nothing is sent to it';

-- The bytes that are signed and sent, made once. Null after the booking was erased, or once the log has forgotten them.
create table webhook_events (
  organization_id text collate "C" not null,
  id text not null,
  type text not null,
  reference text,
  body bytea,
  created_at timestamptz(3) not null,
  primary key (organization_id, id)
);
create index webhook_events_by_reference on webhook_events (organization_id, reference);
create index webhook_events_by_time on webhook_events (organization_id, created_at);

create table deliveries (
  organization_id text collate "C" not null,
  id uuid not null,
  event_id text not null,
  endpoint_id text not null,
  state text not null check (state in ('queued', 'retrying', 'delivered', 'failed', 'canceled')),
  cancel_reason text check (cancel_reason in ('endpoint_disabled', 'endpoint_removed', 'plan', 'erased')),
  -- What a chat gets; null: the event's own body.
  card bytea,
  attempt_count integer not null,
  retries_used integer not null,
  next_attempt_at timestamptz(3),
  last_status integer,
  last_error text,
  created_at timestamptz(3) not null,
  completed_at timestamptz(3),
  primary key (organization_id, id),
  unique (organization_id, event_id, endpoint_id),
  foreign key (organization_id, event_id) references webhook_events (organization_id, id) on delete cascade,
  foreign key (organization_id, endpoint_id) references endpoints (organization_id, id)
) with (fillfactor = 70);
create index deliveries_by_time on deliveries (organization_id, created_at desc, id);
create index deliveries_by_endpoint on deliveries (organization_id, endpoint_id, created_at desc, id);

-- The log: one row per request, written when the request is over.
create table delivery_attempts (
  organization_id text collate "C" not null,
  delivery_id uuid not null,
  number integer not null,
  endpoint_id text not null,
  trigger text not null check (trigger in ('automatic', 'manual')),
  started_at timestamptz(3) not null,
  result text not null check (result in ('delivered', 'failed', 'interrupted')),
  duration_ms integer,
  status integer,
  error_code text,
  reply text,
  reply_is_truncated boolean not null default false,
  next_attempt_at timestamptz(3),
  primary key (organization_id, delivery_id, number),
  foreign key (organization_id, delivery_id) references deliveries (organization_id, id) on delete cascade
);
create index delivery_attempts_by_time on delivery_attempts (organization_id, started_at desc, delivery_id, number);

-- Deliveries that wait (lease_token is null) or are being sent (leased). Claimed across organizations, so this table and
-- delivery_lanes hold everything that claiming needs.
create table delivery_queue (
  delivery_id uuid primary key,
  organization_id text collate "C" not null,
  endpoint_id text not null,
  trigger text not null check (trigger in ('automatic', 'manual')),
  is_test boolean not null,
  due_at timestamptz(3) not null,
  lease_token uuid,
  leased_at timestamptz(3),
  lease_until timestamptz(3),
  -- The advisory lock that the worker's process holds while it lives; null when only lease_until shows that it is gone.
  leased_by integer,
  check ((lease_token is null) = (leased_at is null) and (lease_token is null) = (lease_until is null))
) with (
  fillfactor = 50,
  -- Every delivery passes through this table, so dead rows are vacuumed by count, not by share.
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000
);
create index delivery_queue_waiting on delivery_queue (endpoint_id, due_at) where lease_token is null;
create index delivery_queue_waiting_tests on delivery_queue (due_at) where is_test and lease_token is null;
-- By endpoint rather than by time: new entries then reuse the space of dead ones, and the index stays as small as its content.
create index delivery_queue_leased on delivery_queue (endpoint_id) include (organization_id, lease_until, leased_by)
  where lease_token is not null;

-- One row per endpoint: whether and how fast deliveries may be claimed for it. Follows the endpoint's row, in the same
-- transaction and under that row's lock.
create table delivery_lanes (
  endpoint_id text primary key,
  organization_id text collate "C" not null,
  state text not null check (state in ('open', 'disabled', 'removed')),
  is_chat boolean not null,
  is_failing boolean not null,
  -- Nothing is sent before this: the receiver asked for a pause, or a chat limits how often it is called.
  paused_until timestamptz(3)
);

-- What the organization should be told about its endpoints.
create table endpoint_notices (
  organization_id text collate "C" not null,
  id uuid not null,
  endpoint_id text not null,
  kind text not null check (kind in ('exhausted', 'disabling_soon', 'disabled')),
  detail text not null,
  created_at timestamptz(3) not null,
  mailed_at timestamptz(3),
  mail_tried_at timestamptz(3),
  primary key (organization_id, id),
  foreign key (organization_id, endpoint_id) references endpoints (organization_id, id)
);
create index endpoint_notices_by_endpoint on endpoint_notices (organization_id, endpoint_id, kind, created_at desc);
create index endpoint_notices_unmailed on endpoint_notices (created_at) where mailed_at is null;

-- The sandbox

-- The sandbox plays an external system, so it keeps nothing about a customer: no name, address, phone, notes or answers.

create table sandboxes (
  organization_id text collate "C" not null,
  widget_id text collate "C" not null,
  setup jsonb not null,
  created_at timestamptz(3) not null,
  primary key (organization_id, widget_id),
  foreign key (organization_id, widget_id) references widgets (organization_id, id)
);
comment on column sandboxes.setup is 'services, staff, weekly hours and rules; the time zone is the organization''s';

create table sandbox_appointments (
  organization_id text collate "C" not null,
  widget_id text collate "C" not null,
  reference text not null,
  id text not null,
  service_id text not null,
  staff_id text not null,
  start_at timestamptz(3) not null,
  end_at timestamptz(3) not null,
  manage_secret text not null,
  join_secret text,
  created_at timestamptz(3) not null,
  canceled_at timestamptz(3),
  primary key (organization_id, widget_id, reference),
  foreign key (organization_id, widget_id) references sandboxes (organization_id, widget_id)
);
comment on column sandbox_appointments.reference is 'all that is kept of an appointment''s notes';
comment on column sandbox_appointments.id is 'what a real system would call its own id';
create index sandbox_appointments_by_end on sandbox_appointments (organization_id, end_at);

-- Five minutes of a member of staff or of a service's room that an appointment takes, its buffers included. The key is
-- what makes a slot be taken once, however many ask for it at the same moment.
create table sandbox_busy (
  organization_id text collate "C" not null,
  widget_id text collate "C" not null,
  resource text not null,
  cell_at timestamptz(3) not null,
  reference text not null,
  primary key (organization_id, widget_id, resource, cell_at),
  foreign key (organization_id, widget_id, reference)
    references sandbox_appointments (organization_id, widget_id, reference) on delete cascade
);
create index sandbox_busy_by_appointment on sandbox_busy (organization_id, widget_id, reference);

-- People who sign in, the organizations they belong to, invitations, and the log of what they changed

-- The tables users to user_two_factors are written by better-auth (accounts/auth/auth.ts maps its names to these).

create table users (
  id text primary key,
  name text not null,
  email text not null unique check (email = lower(email)),
  email_verified boolean not null,
  image text,
  two_factor_enabled boolean not null default false,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null
);

create table user_sessions (
  id text primary key,
  user_id text not null references users (id) on delete cascade,
  token text not null unique,
  ip_address text check (ip_address is null),
  user_agent text,
  expires_at timestamptz(3) not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null
);
comment on column user_sessions.token is 'worth nothing without the signature that SECRET_KEY makes in the cookie';
comment on column user_sessions.ip_address is 'better-auth has this column; addresses are never kept';
comment on column user_sessions.user_agent is 'browser and system in words, such as Firefox on Linux';
create index user_sessions_by_user on user_sessions (user_id);
create index user_sessions_by_expiry on user_sessions (expires_at);

create table user_accounts (
  id text primary key,
  user_id text not null references users (id) on delete cascade,
  provider_id text not null,
  account_id text not null,
  password text,
  access_token text,
  refresh_token text,
  id_token text,
  access_token_expires_at timestamptz(3),
  refresh_token_expires_at timestamptz(3),
  scope text,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  unique (provider_id, account_id)
);
comment on table user_accounts is 'a way to sign in: a password (provider credential), or an identity elsewhere';
comment on column user_accounts.password is 'argon2id';
create index user_accounts_by_user on user_accounts (user_id);

create table user_verifications (
  id text primary key,
  identifier text not null,
  value text not null,
  expires_at timestamptz(3) not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null
);
comment on table user_verifications is 'links and codes that are used once; identifiers are hashed';
create index user_verifications_by_identifier on user_verifications (identifier);
create index user_verifications_by_expiry on user_verifications (expires_at);

create table user_two_factors (
  id text primary key,
  user_id text not null references users (id) on delete cascade,
  secret text not null,
  backup_codes text not null,
  verified boolean not null default true,
  failed_verification_count integer not null default 0,
  locked_until timestamptz(3)
);
comment on column user_two_factors.secret is 'encrypted under SECRET_KEY, like the recovery codes';
create index user_two_factors_by_user on user_two_factors (user_id);

create table members (
  organization_id text collate "C" not null references organizations (id),
  user_id text not null references users (id) on delete cascade,
  role text not null check (role in ('owner', 'admin', 'member', 'viewer')),
  created_at timestamptz(3) not null,
  last_used_at timestamptz(3),
  primary key (organization_id, user_id)
);
comment on column members.last_used_at is 'of several organizations, the one used last is shown first';
create index members_by_user on members (user_id);

create table invitations (
  organization_id text collate "C" not null references organizations (id),
  id text not null,
  email text not null check (email = lower(email)),
  role text not null check (role in ('owner', 'admin', 'member', 'viewer')),
  token_hash bytea not null unique,
  invited_by text references users (id) on delete set null,
  created_at timestamptz(3) not null,
  expires_at timestamptz(3) not null,
  primary key (organization_id, id),
  unique (organization_id, email)
);
comment on table invitations is 'open ones only: accepted and revoked ones are in the audit log';

-- While there is no user, whoever holds one of these makes the first one. Emptied by that.
create table setup_links (
  token_hash bytea primary key,
  created_at timestamptz(3) not null
);

create table audit_entries (
  organization_id text collate "C" not null references organizations (id),
  id uuid not null,
  at timestamptz(3) not null,
  user_id text,
  email text,
  action text not null,
  target text,
  detail jsonb not null,
  primary key (organization_id, id)
);
comment on table audit_entries is 'append only; nothing about customers';
comment on column audit_entries.user_id is 'null: the operator, on the command line';
create index audit_entries_by_time on audit_entries (organization_id, at desc, id desc);
