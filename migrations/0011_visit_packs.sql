-- Packs hold the visits of past days in few bytes, so that filtered analytics don't read every row of funnel_visits.

create table visit_packs (
  organization_id text collate "C" not null,
  day date not null,
  part integer not null,
  changes integer not null,
  last_at timestamptz(3),
  data bytea,
  primary key (organization_id, day, part)
);
comment on column visit_packs.day is 'the UTC day on which the visits started';
comment on column visit_packs.changes is 'of part 0: how often the day''s visits were changed while it was packed';
comment on column visit_packs.last_at is 'the latest converted_at of the visits';
comment on column visit_packs.data is 'null in part 0: the day is outdated';
-- Every report reads all bytes of the window, and decompressing would take longer than reading.
alter table visit_packs alter column data set storage external;
create index visit_packs_outdated on visit_packs (organization_id, day) where data is null;

-- Days from packed_from until before packed_before are packed: those without a pack have no visits.
alter table day_zones add column packed_from date, add column packed_before date;
