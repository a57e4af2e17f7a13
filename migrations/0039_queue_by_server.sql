-- Lets the queue of deliveries be spread over servers with its organizations (docs/scale.md). Nothing else changes.

alter table delivery_queue drop constraint delivery_queue_pkey, add primary key (delivery_id, organization_id);
alter table delivery_lanes drop constraint delivery_lanes_pkey, add primary key (endpoint_id, organization_id);
