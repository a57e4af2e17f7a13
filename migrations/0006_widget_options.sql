-- Options of a widget's look and behaviour, the organization's logo, appointments in order of time, and deleted organizations.

-- `options` holds the optional settings of contract/widget-options.ts. `offers` says what is offered, by scheduling system.
alter table widgets
  add column options jsonb not null default '{}',
  add column offers jsonb not null default '{}';

create table organization_logos (
  organization_id text collate "C" not null primary key references organizations (id),
  content_type text not null check (content_type in ('image/png', 'image/jpeg', 'image/webp')),
  content bytea not null,
  updated_at timestamptz(3) not null
);

create index bookings_by_start on bookings (organization_id, start_at, reference);

-- What is left of an organization that its owner deleted: for the operator.
create table deleted_organizations (
  id text collate "C" not null primary key,
  name text not null,
  deleted_at timestamptz(3) not null,
  deleted_by text,
  bookings integer not null,
  members integer not null
);
