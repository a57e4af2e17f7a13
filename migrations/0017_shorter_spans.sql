-- Counters are added up over spans of 5, 10 and 60 days instead of 8 and 64, so that a window of 30 days takes the same time every
-- day. The worker adds them up again.

-- Until which day they were added up. Processes of the previous version use this column: they read single days from now on.
lock table day_zones in exclusive mode;
update day_zones set sealed_before = '1970-01-01';
delete from funnel_key_spans;

-- Last, because nobody can use these tables from here to the end of this file.
alter table day_zones alter column sealed_before set default '1970-01-01';
-- The same for the new spans.
alter table day_zones add column spans_sealed_before date not null default '1970-01-01';
-- Workers of the previous version must not add up spans that nobody would keep up to date.
alter table funnel_key_spans add constraint funnel_key_spans_days check (span_days in (5, 10, 60));
