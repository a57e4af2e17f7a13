-- Lets owners run their webhooks: filters, custom headers, rate limits, retry now, bulk redelivery, details of attempts, deletions.

alter table endpoints
  add column event_types text[] not null default '{booking.created}',
  -- Null: bookings of every widget.
  add column widget_ids text[],
  add column reports_expiry boolean not null default false,
  add column header_names text[] not null default '{}',
  add column headers bytea,
  add column requests_per_minute integer check (requests_per_minute between 1 and 6000);
comment on column endpoints.reports_expiry is 'booking.erased is also sent for bookings whose retention ended';
comment on column endpoints.headers is 'custom request headers as JSON, sealed under SECRET_KEY';

-- Chat cards are not signed.
update endpoints set secret = '', secret_hint = '', previous_secret = null, previous_secret_expires_at = null
where kind <> 'webhook';

alter table delivery_lanes
  add column requests_per_minute integer,
  add column rated_until timestamptz(3);
comment on column delivery_lanes.rated_until is 'with a rate limit: nothing is claimed before then';

alter table delivery_queue add column resume_at timestamptz(3);
comment on column delivery_queue.resume_at is 'someone asked to retry now: if that fails, the schedule continues then';

-- What delivery_attempts has no column for: bytes sent, remote address, timings, response headers.
alter table delivery_attempts add column detail json;

alter table webhook_events add column widget_id text collate "C";
update webhook_events event set widget_id = booking.widget_id from bookings booking
where booking.organization_id = event.organization_id and booking.reference = event.reference;

-- A bulk redelivery. A task queues the matching deliveries in batches, and saves the place with each batch.
create table redeliveries (
  organization_id text collate "C" not null,
  id text collate "C" not null,
  filter json not null,
  state text not null check (state in ('running', 'finished', 'canceled')),
  matched integer not null,
  queued integer not null,
  -- The last delivery that was looked at; deliveries created after the redelivery are not part of it.
  place_at timestamptz(3) not null,
  place_id uuid not null,
  created_at timestamptz(3) not null,
  finished_at timestamptz(3),
  primary key (organization_id, id)
);
create index redeliveries_running on redeliveries (created_at) where state = 'running';

alter table deliveries add column redelivery_id text collate "C";
create index deliveries_by_redelivery on deliveries (organization_id, redelivery_id, state) where redelivery_id is not null;

-- What was deleted, for copies of the bookings elsewhere. Nothing personal.
create table booking_deletions (
  organization_id text collate "C" not null,
  deleted_at timestamptz(3) not null,
  reference text not null,
  widget_id text collate "C" not null,
  reason text not null check (reason in ('erased', 'deleted', 'expired')),
  primary key (organization_id, deleted_at)
);
comment on column booking_deletions.deleted_at is 'unique and in commit order within an organization, like bookings.created_at';

create table deletion_clocks (
  organization_id text collate "C" primary key,
  last_deleted_at timestamptz(3) not null
);
