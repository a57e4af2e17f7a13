-- Puts webhook events in an order that programs can read them in: GET /api/v1/events.

-- Given when the event is first read, so that storing a booking waits for nothing.
alter table webhook_events add column listed_at timestamptz(3);
comment on column webhook_events.listed_at is 'unique within an organization and in commit order; null until someone reads the events';
create index webhook_events_by_listing on webhook_events (organization_id, listed_at, created_at);

create table event_clocks (
  organization_id text collate "C" primary key,
  last_listed_at timestamptz(3) not null
);
