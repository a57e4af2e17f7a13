-- Test mode: marks stored bookings that are tests, and remembers when each widget was live.

alter table bookings add column is_test boolean not null default false;
create index bookings_of_tests on bookings (organization_id, widget_id) where is_test;

-- A widget is live while it has a connection, and in test mode otherwise. Visits outside of these periods are test data.
create table live_periods (
  organization_id text collate "C" not null,
  widget_id text collate "C" not null,
  started_at timestamptz(3) not null,
  ended_at timestamptz(3),
  primary key (organization_id, widget_id, started_at),
  foreign key (organization_id, widget_id) references widgets (organization_id, id)
);

insert into live_periods (organization_id, widget_id, started_at)
select organization_id, id, created_at from widgets where connection_id is not null;

update bookings set is_test = true
from sandbox_appointments appointment
where appointment.organization_id = bookings.organization_id and appointment.widget_id = bookings.widget_id
  and appointment.reference = bookings.reference;
