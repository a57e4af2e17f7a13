-- Lists of cancelled bookings: usually few of many.
create index bookings_cancelled on bookings (organization_id, created_at) where status = 'cancelled';
