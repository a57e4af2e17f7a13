-- Limits an endpoint to bookings of some services, channels, sources or campaigns. Null: all of them.
alter table endpoints
  add column services text[],
  add column channels text[],
  add column sources text[],
  add column campaigns text[];
