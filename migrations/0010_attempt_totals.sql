-- Totals of attempts per endpoint and finished interval, so that statistics of 7 and 30 days don't read every attempt.

create table attempt_totals (
  organization_id text collate "C" not null,
  interval_hours integer not null,
  from_at timestamptz(3) not null,
  endpoint_id text collate "C" not null,
  delivered integer not null,
  failed integer not null,
  median_ms integer,
  p95_ms integer,
  primary key (organization_id, interval_hours, from_at, endpoint_id)
);
