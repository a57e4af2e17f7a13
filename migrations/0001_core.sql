-- Organizations, their widgets and API keys, and the copies of their bookings.

create table organizations (
  id text primary key,
  name text not null,
  plan text not null check (plan in ('free', 'pro', 'business')),
  time_zone text,
  created_at timestamptz(3) not null
);
comment on column organizations.time_zone is 'IANA name; null means UTC';

create table widgets (
  id text primary key,
  organization_id text not null references organizations (id),
  name text not null,
  business_name text not null,
  booking_url text,
  template text not null check (template in ('classic', 'compact', 'minimal')),
  status text not null check (status in ('active', 'paused')),
  collect_data boolean not null,
  created_at timestamptz(3) not null,
  unique (organization_id, id)
);
comment on column widgets.booking_url is 'null: the direct page of this service';
comment on column widgets.collect_data is 'the Store bookings switch';

create table api_keys (
  id text primary key,
  organization_id text not null references organizations (id),
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

-- One reference belongs to one booking of one organization, for good. A table of its own, because a unique index on
-- bookings (reference) could not exist once bookings are distributed by organization.
create table booking_references (
  reference text primary key,
  organization_id text not null
);

-- The last createdAt given out per organization. The storing transaction holds this row to its end, so createdAt grows
-- strictly and in commit order, which paging and incremental sync rest on.
create table booking_clocks (
  organization_id text primary key references organizations (id),
  last_created_at timestamptz(3) not null
);

create table bookings (
  organization_id text not null,
  reference text not null,
  widget_id text not null,
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
  customer_email_key text not null generated always as (lower(btrim(normalize(customer_email)))) stored,
  customer_phone text,
  customer_notes text,
  answers jsonb not null,
  attribution jsonb not null,
  external_id text,
  manage_url text,
  join_url text,
  primary key (organization_id, reference),
  unique (organization_id, created_at),
  foreign key (organization_id, widget_id) references widgets (organization_id, id)
);
comment on column bookings.customer_email_key is 'what erase by e-mail compares';
create index bookings_by_widget on bookings (organization_id, widget_id, created_at);
create index bookings_by_email on bookings (organization_id, customer_email_key);
