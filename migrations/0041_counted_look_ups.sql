-- Uncertain bookings are given up after a number of look-ups, not at a time: the clock may jump.
-- Processes of the previous version are stopped since 0026.
alter table pending_bookings add column look_ups smallint not null default 0;
alter table pending_bookings drop column given_up_at;
comment on column pending_bookings.look_ups is 'by the task, after those of the visitor''s own request';
