-- Scopes and networks of API keys. Existing keys keep what they could do: read bookings and analytics, from anywhere.
alter table api_keys
  add column scopes text[] not null default '{analytics,bookings}',
  add column networks text[] not null default '{}';
comment on column api_keys.networks is 'CIDR; empty for all';
