-- Links that show one report to people without an account.
create table report_links (
  organization_id text collate "C" not null references organizations (id),
  id text collate "C" not null,
  name text not null,
  query text not null,
  -- Kept as it is, so that the link can be copied again. The report it opens is in the same database.
  token text collate "C" not null unique,
  created_by text,
  created_at timestamptz(3) not null,
  primary key (organization_id, id)
);
comment on column report_links.query is 'period, comparison and filters as query parameters, such as days=30&country=DE';
comment on column report_links.created_by is 'the address of the member';
