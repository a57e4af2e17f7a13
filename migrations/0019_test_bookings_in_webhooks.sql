-- Webhooks of test bookings carry a header that says so; a redelivery repeats it after the booking is gone.

alter table webhook_events add column is_test_booking boolean not null default false;
