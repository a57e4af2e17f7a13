-- Lets the tables of organizations be spread over several servers with Citus (docs/scale.md). Nothing else changes.

-- Keys of distributed tables begin with organization_id.
alter table deliveries drop constraint deliveries_organization_id_endpoint_id_fkey;
alter table endpoint_notices drop constraint endpoint_notices_organization_id_endpoint_id_fkey;
alter table endpoints
  drop constraint endpoints_pkey,
  drop constraint endpoints_organization_id_id_key,
  add primary key (organization_id, id);
alter table deliveries
  add foreign key (organization_id, endpoint_id) references endpoints (organization_id, id);
alter table endpoint_notices
  add foreign key (organization_id, endpoint_id) references endpoints (organization_id, id);

-- Widgets are on every server, and connections are not, so no foreign key can connect them. Whoever gives a connection to a
-- widget, or deletes one, locks its row first (scheduler/connections/queries.ts).
alter table widgets drop constraint widgets_organization_id_connection_id_fkey;
alter table scheduling_connections
  drop constraint scheduling_connections_pkey,
  drop constraint scheduling_connections_organization_id_id_key,
  add primary key (organization_id, id);

-- API keys are on every server, so what changes with their use has a table of its own.
create table api_key_uses (
  organization_id text collate "C" not null,
  key_id text not null,
  last_used_at timestamptz(3) not null,
  primary key (organization_id, key_id)
);
insert into api_key_uses (organization_id, key_id, last_used_at)
select organization_id, id, last_used_at from api_keys where last_used_at is not null;
comment on column api_keys.last_used_at is 'no longer written: see api_key_uses';
