-- One engine for analytics: packs of visits with their totals replace the counters, which are dropped. Packs are made again.
-- Processes of the previous version can't record events after this: stop them first.
drop table funnel_days, funnel_key_days, funnel_key_spans, zone_offsets, visit_packs;

alter table day_zones rename to visit_progress;
alter table visit_progress rename constraint day_zones_pkey to visit_progress_pkey;
alter table visit_progress rename constraint day_zones_organization_id_fkey to visit_progress_organization_id_fkey;
alter table visit_progress drop constraint day_zones_check;
alter table visit_progress
  drop column zone, drop column rules, drop column rules_release, drop column version, drop column sealed_before,
  drop column building_version, drop column building_rules, drop column spans_sealed_before, drop column packed_from,
  drop column packed_before;
alter table visit_progress add column packed_before timestamptz(3);
comment on column visit_progress.kept_since is 'retention has deleted no visit that ended since then';
comment on column visit_progress.packed_before is 'changes of visits that started earlier are noted in visit_days';

create table visit_days (
  organization_id text collate "C" not null,
  day date not null,
  outdated integer not null default 0,
  packed_hours integer not null default 0,
  last_at timestamptz(3),
  primary key (organization_id, day)
);
comment on column visit_days.day is 'the UTC day on which the visits started';
comment on column visit_days.outdated is 'one bit for each hour in which a visit started that has changed since it was packed';
comment on column visit_days.packed_hours is 'hours from midnight that are packed; 24 if the day has totals too';
comment on column visit_days.last_at is 'the latest converted_at of the packed visits';
create index visit_days_unfinished on visit_days (organization_id, day) where outdated <> 0 or packed_hours < 24;

create table visit_packs (
  organization_id text collate "C" not null,
  day date not null,
  part integer not null,
  hours integer not null,
  visits integer not null,
  last_at timestamptz(3),
  data bytea not null,
  digest bytea generated always as (sha256(data)) stored,
  primary key (organization_id, day, part)
);
comment on column visit_packs.hours is 'one bit for each hour of the day whose visits are in this part, or in several parts with the same hours';
-- Every report reads all bytes of the window, and decompressing would take longer than reading.
alter table visit_packs alter column data set storage external;

create table visit_totals (
  organization_id text collate "C" not null,
  widget_id text collate "C" not null,
  days integer not null,
  start date not null,
  counts bytea not null,
  keys bytea not null,
  primary key (organization_id, widget_id, days, start)
);
comment on column visit_totals.widget_id is 'empty: all widgets together';
alter table visit_totals alter column counts set storage external, alter column keys set storage external;

-- How many bookings, or failed attempts, a visit has.
create function count_conversions(conversions jsonb) returns integer
  language sql immutable strict parallel safe
  return (select count(*)::integer from jsonb_object_keys(conversions));
