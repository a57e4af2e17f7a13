-- Remembers what was made on the practice Cal.com, so that it is never mistaken for the real thing.

alter table live_periods add column is_practice boolean not null default false;
alter table sandbox_appointments add column is_practice boolean not null default false;
comment on column live_periods.is_practice is 'whether the widget was live on the practice Cal.com';
comment on column sandbox_appointments.is_practice is 'booked through the practice Cal.com, and so by a live widget';
