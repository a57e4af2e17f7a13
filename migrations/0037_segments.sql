-- Segments: filters of the analytics screen that an organization saved under a name.
create table segments (
  organization_id text collate "C" not null references organizations (id),
  id text collate "C" not null,
  name text not null,
  query text not null,
  created_at timestamptz(3) not null,
  primary key (organization_id, id)
);
comment on column segments.query is 'filters as query parameters, such as country=DE&country=AT';
