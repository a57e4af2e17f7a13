-- Since when a connection has had its account. Bookings that were made in a former one can't be found in it.
alter table scheduling_connections add column account_since timestamptz(3);
comment on column scheduling_connections.account_since is 'null: it has had no other account';
