-- The public booking page of a connection's scheduling system, for the read API's bookingUrl. A worker reads it once a day.
alter table scheduling_connections add column booking_url text, add column booking_url_read_at timestamptz(3);
comment on column scheduling_connections.booking_url is 'null if the system has none';
comment on column scheduling_connections.booking_url_read_at is 'null if it has not been read yet';
