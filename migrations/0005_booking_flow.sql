-- Bookings between the visitor's request and the scheduling system's word.

-- One row per request to book, from before the scheduling system is asked until a day after it is settled. It is what makes
-- the same Idempotency-Key give the same answer, and what a task goes by where a process ended in between. While Store
-- bookings is off it holds nothing personal: `copy` (what a stored booking is made of) is set only where it was on, and goes
-- as soon as the row is settled.
create table pending_bookings (
  organization_id text not null,
  reference text not null,
  widget_id text not null,
  key_hash bytea not null,
  service_id text not null,
  start_at timestamptz(3) not null,
  state text not null check (state in ('asking', 'confirmed', 'failed')),
  -- Whoever asks has until then; after that a task looks the reference up.
  asking_until timestamptz(3) not null,
  -- Until when a lost outcome is looked for.
  given_up_at timestamptz(3) not null,
  -- The touch that the outcome is counted with; anonymous.
  touch jsonb not null,
  copy jsonb,
  -- What the visitor was told, for the same key again.
  failure text,
  answer jsonb,
  created_at timestamptz(3) not null,
  settled_at timestamptz(3),
  primary key (organization_id, reference),
  unique (organization_id, widget_id, key_hash),
  check ((state = 'asking') = (settled_at is null)),
  check (state = 'asking' or copy is null)
);
create index pending_bookings_asking on pending_bookings (asking_until) where state = 'asking';
create index pending_bookings_settled on pending_bookings (settled_at) where state <> 'asking';
