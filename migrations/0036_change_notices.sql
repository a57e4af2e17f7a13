-- Subscriptions to notices that scheduling systems send about changed appointments. Followed connections get theirs at the next start.
alter table scheduling_connections
  add column subscription_id text collate "C",
  add column subscription_secret bytea,
  add column subscription_due_at timestamptz(3);
comment on column scheduling_connections.subscription_id is 'the system''s own id; null: the system sends no notices';
comment on column scheduling_connections.subscription_due_at is 'when the subscription is to be made, checked or removed';
create index scheduling_connections_subscribed on scheduling_connections (subscription_due_at);
update scheduling_connections set subscription_due_at = changes_due_at where follows_changes;
