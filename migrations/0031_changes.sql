-- What became of appointments since they were booked: cancelled or moved. Built like deletions, so that copies can follow.
alter table bookings add column asked_in text collate "C";
create index bookings_by_external_id on bookings (organization_id, external_id);

create table booking_changes (
  organization_id text collate "C" not null,
  changed_at timestamptz(3) not null,
  reference text collate "C" not null,
  type text not null check (type in ('cancelled', 'rescheduled')),
  status text not null,
  start_at timestamptz(3) not null,
  end_at timestamptz(3) not null,
  previous_start_at timestamptz(3) not null,
  primary key (organization_id, changed_at),
  -- What is erased takes its history with it.
  foreign key (organization_id, reference) references bookings (organization_id, reference) on delete cascade
);
create index booking_changes_by_reference on booking_changes (organization_id, reference, changed_at);

create table change_clocks (
  organization_id text collate "C" not null primary key,
  last_changed_at timestamptz(3) not null
);

-- Appointments to be read in their scheduling system, because something may have changed.
create table appointment_checks (
  organization_id text collate "C" not null,
  reference text collate "C" not null,
  due_at timestamptz(3) not null,
  tries integer not null default 0,
  primary key (organization_id, reference),
  foreign key (organization_id, reference) references bookings (organization_id, reference) on delete cascade
);
comment on column appointment_checks.due_at is 'while a process reads the appointment: when another one may';
create index appointment_checks_by_time on appointment_checks (due_at);
