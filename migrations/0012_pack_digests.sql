-- Tells packs with equal bytes apart from others, so that a process reads a pack only once. Days are packed again, because adding the
-- column to many packs would take long.

-- In the order in which recording and packing lock them. A report that has begun keeps its packs: truncate would hide them.
lock table day_zones in exclusive mode;
update day_zones set packed_from = null, packed_before = null where packed_before is not null;
delete from visit_packs;
alter table visit_packs add column digest bytea generated always as (sha256(data)) stored;
