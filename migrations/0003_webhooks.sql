-- Endpoints, webhook events, their deliveries and attempts, and the queue of what is to be sent.

-- A booking whose webhook event could not be written with it; a task finishes these.
alter table bookings add column lacks_event boolean not null default false;
create index bookings_lacking_event on bookings (organization_id, created_at) where lacks_event;

-- Letters of every alphabet fold the same on every server, whatever its locale, and any blank around an address is dropped.
alter table bookings alter column customer_email_key
  set expression as (lower(btrim(normalize(customer_email), E' \t\n\v\f\r\u00A0') collate "pg_c_utf8"));

create table endpoints (
  id text primary key,
  organization_id text not null references organizations (id),
  kind text not null check (kind in ('webhook', 'teams', 'slack')),
  url text not null,
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
  -- Nothing is sent before this: the receiver asked for a pause.
  paused_until timestamptz(3),
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  removed_at timestamptz(3),
  check ((status = 'disabled') = (disabled_reason is not null)),
  unique (organization_id, id)
);
comment on column endpoints.secret is 'sealed under SECRET_KEY';
comment on column endpoints.refused_deliveries is 'deliveries in a row that a chat refused for good';
comment on column endpoints.removed_at is 'kept for the delivery log; nothing is sent to it';

-- The bytes that are signed and sent, made once. Null after the booking was erased, or once the log has forgotten them.
create table webhook_events (
  organization_id text not null,
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
  organization_id text not null,
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

-- The log: one row per request that was, or was about to be, made.
create table delivery_attempts (
  organization_id text not null,
  delivery_id uuid not null,
  number integer not null,
  endpoint_id text not null,
  trigger text not null check (trigger in ('automatic', 'manual')),
  started_at timestamptz(3) not null,
  result text not null check (result in ('in_flight', 'delivered', 'failed', 'interrupted')),
  duration_ms integer,
  status integer,
  error_code text,
  reply text,
  reply_is_truncated boolean not null default false,
  next_attempt_at timestamptz(3),
  primary key (organization_id, delivery_id, number),
  foreign key (organization_id, delivery_id) references deliveries (organization_id, id) on delete cascade
) with (fillfactor = 70);
create index delivery_attempts_by_time on delivery_attempts (organization_id, started_at desc, delivery_id, number);
create index delivery_attempts_by_endpoint
  on delivery_attempts (organization_id, endpoint_id, started_at desc, delivery_id, number);

-- What waits to be sent, and what is being sent (leased). A small table of its own, claimed across organizations; a row is
-- here only while its delivery has something to do.
create table delivery_queue (
  delivery_id uuid primary key,
  organization_id text not null,
  endpoint_id text not null,
  trigger text not null check (trigger in ('automatic', 'manual')),
  due_at timestamptz(3) not null,
  lease_token uuid,
  lease_until timestamptz(3),
  check ((lease_token is null) = (lease_until is null))
) with (
  fillfactor = 50,
  -- Every delivery passes through here: dead rows are cleared away by their number, not by a share of the table.
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000
);
create index delivery_queue_waiting on delivery_queue (endpoint_id, due_at) where lease_token is null;
create index delivery_queue_leased on delivery_queue (lease_until) include (endpoint_id, organization_id)
  where lease_token is not null;

-- What the organization should be told about its endpoints.
create table endpoint_notices (
  organization_id text not null,
  id uuid not null,
  endpoint_id text not null,
  kind text not null check (kind in ('exhausted', 'disabling_soon', 'disabled')),
  detail text not null,
  created_at timestamptz(3) not null,
  primary key (organization_id, id),
  foreign key (organization_id, endpoint_id) references endpoints (organization_id, id)
);
create index endpoint_notices_by_endpoint on endpoint_notices (organization_id, endpoint_id, kind, created_at desc);
