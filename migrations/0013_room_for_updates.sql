-- Reporting an attempt writes no index of deliveries.
--
-- PostgreSQL leaves the indexes alone when an update changes none of their columns and the new row fits on the same page. An index
-- with the column state, which every report changes, made it write all the others again; and the pages of a long queue were full.

create index deliveries_by_redelivery_id on deliveries (organization_id, redelivery_id) where redelivery_id is not null;
alter table deliveries set (fillfactor = 85);

-- A redelivery counts in the queue what it has not sent yet.
alter table delivery_queue add column redelivery_id text;
create index delivery_queue_redelivered on delivery_queue (redelivery_id) where redelivery_id is not null;

-- Last, because nobody can use deliveries from here to the end of this file.
drop index deliveries_by_redelivery;
