-- Remembers which bookings were exported for Google Ads, so that their conversions can be retracted after a cancellation.
alter table bookings add column google_conversion_name text;
comment on column bookings.google_conversion_name is 'the conversion name of its last export for Google Ads';
