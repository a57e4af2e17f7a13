-- What settling a request to book goes by: the scheduling system that was asked, and whether the customer was erased meanwhile.
alter table pending_bookings add column asked_in text;
comment on column pending_bookings.asked_in is
  'the id of the connection, or sandbox; null from before this column: then the one that the widget has';
alter table pending_bookings add column erased boolean not null default false;
comment on column pending_bookings.erased is 'whoever settles it keeps and sends nothing';
