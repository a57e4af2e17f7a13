-- Finds the manual redeliveries of an organization that wait; nearly everything in the queue is automatic.

create index delivery_queue_manual on delivery_queue (organization_id) where trigger = 'manual';
