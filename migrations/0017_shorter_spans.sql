-- Counters are added up over spans of 5, 10 and 60 days instead of 8 and 64, so that a window of 30 days reads the same number of
-- rows every day. The worker adds them up again.

-- Spans that end by this day are added up in funnel_key_spans.
alter table day_zones add column spans_sealed_before date not null default '1970-01-01';

-- This was its column for spans of 8 and 64 days. It stays for processes of the previous version, which then read single days.
alter table day_zones alter column sealed_before set default '1970-01-01';
lock table day_zones in exclusive mode;
update day_zones set sealed_before = '1970-01-01';
delete from funnel_key_spans;
