-- Keeps the progress of a bulk redelivery exact when a later one takes its deliveries.

alter table redeliveries
  add column kept_delivered integer not null default 0,
  add column kept_failed integer not null default 0,
  add column kept_canceled integer not null default 0;
comment on column redeliveries.kept_delivered is 'deliveries that a later redelivery has taken, by the state they had then';
