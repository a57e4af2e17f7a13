-- Scheduling systems: an organization's connections to them, and the sandbox that plays one.

create table scheduling_connections (
  id text primary key,
  organization_id text not null references organizations (id),
  kind text not null check (kind in ('microsoft-bookings', 'calcom')),
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

alter table widgets add column connection_id text;
alter table widgets add foreign key (organization_id, connection_id)
  references scheduling_connections (organization_id, id);
comment on column widgets.connection_id is 'null: the widget books in its sandbox';
create index widgets_by_connection on widgets (organization_id, connection_id) where connection_id is not null;

-- The sandbox plays an external system, so it keeps nothing about a customer: no name, address, phone, notes or answers.

create table sandboxes (
  organization_id text not null,
  widget_id text not null,
  setup jsonb not null,
  created_at timestamptz(3) not null,
  primary key (organization_id, widget_id),
  foreign key (organization_id, widget_id) references widgets (organization_id, id)
);
comment on column sandboxes.setup is 'services, staff, weekly hours and rules; the time zone is the organization''s';

create table sandbox_appointments (
  organization_id text not null,
  widget_id text not null,
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
  organization_id text not null,
  widget_id text not null,
  resource text not null,
  cell_at timestamptz(3) not null,
  reference text not null,
  primary key (organization_id, widget_id, resource, cell_at),
  foreign key (organization_id, widget_id, reference)
    references sandbox_appointments (organization_id, widget_id, reference) on delete cascade
);
create index sandbox_busy_by_appointment on sandbox_busy (organization_id, widget_id, reference);
