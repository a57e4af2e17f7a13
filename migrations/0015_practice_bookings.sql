-- Bookings on the practice Cal.com are test bookings: marked, left out of exports and reports, and cleared with the other test data.

update bookings set is_test = true
from sandbox_appointments appointment
where appointment.organization_id = bookings.organization_id and appointment.reference = bookings.reference
  and appointment.is_practice;

alter table sandbox_appointments drop column is_practice;

comment on column bookings.is_test is 'made in test mode or on the practice Cal.com';
