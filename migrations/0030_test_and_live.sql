-- Widgets that were live on the practice Cal.com, which is gone, are in test mode, and what they collected there stays test data.

update widgets set connection_id = null
from scheduling_connections connection
where connection.organization_id = widgets.organization_id and connection.id = widgets.connection_id
  and connection.settings ->> 'apiUrl' ~ '^https?://(localhost|127\.[0-9.]+|\[::1\])(:[0-9]+)?/practice-calcom/w_';

update pending_bookings set asked_in = 'sandbox'
from scheduling_connections connection
where connection.organization_id = pending_bookings.organization_id and connection.id = pending_bookings.asked_in
  and connection.settings ->> 'apiUrl' ~ '^https?://(localhost|127\.[0-9.]+|\[::1\])(:[0-9]+)?/practice-calcom/w_';

delete from scheduling_connections
where settings ->> 'apiUrl' ~ '^https?://(localhost|127\.[0-9.]+|\[::1\])(:[0-9]+)?/practice-calcom/w_';

delete from live_periods where is_practice;

alter table live_periods drop column is_practice;

comment on column bookings.is_test is 'made in test mode';
