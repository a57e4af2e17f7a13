-- On a cluster, the rows of booking_references are spread by reference, like organizations by id. Ids compare byte by byte.
-- Rebuilds the table's index, a few seconds per million references. Stop processes of the previous version first.
alter table booking_references alter column reference type text collate "C";
