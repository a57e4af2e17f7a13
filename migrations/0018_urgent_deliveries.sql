-- Retrying one delivery by hand sends it although its receiver asked for a pause; the others of the endpoint wait as before.

alter table delivery_queue add column is_urgent boolean not null default false;
create index delivery_queue_urgent on delivery_queue (endpoint_id, due_at) where is_urgent and lease_token is null;
