-- While a booking request of a visit for a service is unsettled, another one waits for its outcome, so that nobody is booked twice. The
-- hash of widget, service and visit is deleted when the request is settled. Requests of the previous version have none.

alter table pending_bookings add column visit_hash bytea;
create unique index pending_bookings_visit on pending_bookings (organization_id, visit_hash);
