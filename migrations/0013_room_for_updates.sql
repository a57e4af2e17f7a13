-- Reporting an attempt writes no index of deliveries.
--
-- PostgreSQL leaves the indexes alone when an update changes none of their columns and the new row fits on the same page. An index
-- with the column state, which every report changes, made it write all the others again; and the pages of a long queue were full.

drop index deliveries_by_redelivery;
create index deliveries_by_redelivery on deliveries (organization_id, redelivery_id) where redelivery_id is not null;

alter table deliveries set (fillfactor = 85);
