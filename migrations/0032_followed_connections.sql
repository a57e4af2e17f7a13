-- Connections whose appointments are followed. Existing ones are not, until someone turns it on.
alter table scheduling_connections
  add column follows_changes boolean not null default false,
  add column changes_since timestamptz(3),
  add column changes_due_at timestamptz(3);
comment on column scheduling_connections.changes_since is 'what the system changed before this, by its own clock, was seen';
create index scheduling_connections_followed on scheduling_connections (changes_due_at) where follows_changes;
