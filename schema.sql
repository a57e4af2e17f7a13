-- Made by `npm run generate` from migrations/; a test compares it with a migrated database.

create table api_key_uses (
  organization_id text not null,
  key_id text not null,
  last_used_at timestamp(3) with time zone not null,
  constraint api_key_uses_pkey PRIMARY KEY (organization_id, key_id)
);

create table api_keys (
  id text not null,
  organization_id text not null,
  name text not null,
  key_hash bytea not null,
  first_characters text not null,
  last_characters text not null,
  created_by text,
  created_at timestamp(3) with time zone not null,
  last_used_at timestamp(3) with time zone,
  expires_at timestamp(3) with time zone,
  revoked_at timestamp(3) with time zone,
  constraint api_keys_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id),
  constraint api_keys_pkey PRIMARY KEY (id),
  constraint api_keys_key_hash_key UNIQUE (key_hash)
);
CREATE INDEX api_keys_by_organization ON public.api_keys USING btree (organization_id, created_at);

create table attempt_totals (
  organization_id text not null,
  interval_hours integer not null,
  from_at timestamp(3) with time zone not null,
  endpoint_id text not null,
  delivered integer not null,
  failed integer not null,
  median_ms integer,
  p95_ms integer,
  constraint attempt_totals_pkey PRIMARY KEY (organization_id, interval_hours, from_at, endpoint_id)
);

create table audit_entries (
  organization_id text not null,
  id uuid not null,
  at timestamp(3) with time zone not null,
  user_id text,
  email text,
  action text not null,
  target text,
  detail jsonb not null,
  constraint audit_entries_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id),
  constraint audit_entries_pkey PRIMARY KEY (organization_id, id)
);
CREATE INDEX audit_entries_by_time ON public.audit_entries USING btree (organization_id, at DESC, id DESC);

create table booking_clocks (
  organization_id text not null,
  last_created_at timestamp(3) with time zone not null,
  constraint booking_clocks_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id),
  constraint booking_clocks_pkey PRIMARY KEY (organization_id)
);

create table booking_deletions (
  organization_id text not null,
  deleted_at timestamp(3) with time zone not null,
  reference text not null,
  widget_id text not null,
  reason text not null,
  constraint booking_deletions_reason_check CHECK ((reason = ANY (ARRAY['erased'::text, 'deleted'::text, 'expired'::text]))),
  constraint booking_deletions_pkey PRIMARY KEY (organization_id, deleted_at)
);

create table booking_references (
  reference text not null,
  organization_id text not null,
  constraint booking_references_pkey PRIMARY KEY (reference)
);

create table bookings (
  organization_id text not null,
  reference text not null,
  widget_id text not null,
  status text not null,
  created_at timestamp(3) with time zone not null,
  start_at timestamp(3) with time zone not null,
  end_at timestamp(3) with time zone not null,
  time_zone text not null,
  service_id text not null,
  service_name text not null,
  staff jsonb not null,
  customer_name text not null,
  customer_email text not null,
  customer_email_key text generated always as (lower((btrim(NORMALIZE(customer_email), ' 	
 '::text) COLLATE pg_c_utf8))) stored not null,
  customer_phone text,
  customer_notes text,
  answers jsonb not null,
  attribution jsonb not null,
  external_id text,
  manage_url text,
  join_url text,
  lacks_event boolean default false not null,
  api_json text generated always as (booking_api_json(reference, status, created_at, start_at, end_at, time_zone, service_id, service_name, staff, customer_name, customer_email, customer_phone, customer_notes, answers, attribution, manage_url)) stored not null,
  is_test boolean default false not null,
  constraint bookings_organization_id_widget_id_fkey FOREIGN KEY (organization_id, widget_id) REFERENCES widgets(organization_id, id),
  constraint bookings_pkey PRIMARY KEY (organization_id, reference),
  constraint bookings_organization_id_created_at_key UNIQUE (organization_id, created_at)
);
CREATE INDEX bookings_by_email ON public.bookings USING btree (organization_id, customer_email_key);
CREATE INDEX bookings_by_start ON public.bookings USING btree (organization_id, start_at, reference);
CREATE INDEX bookings_by_widget ON public.bookings USING btree (organization_id, widget_id, created_at);
CREATE INDEX bookings_lacking_event ON public.bookings USING btree (organization_id, created_at) WHERE lacks_event;
CREATE INDEX bookings_of_tests ON public.bookings USING btree (organization_id, widget_id) WHERE is_test;
CREATE INDEX bookings_search ON public.bookings USING gin (booking_grams(organization_id, created_at, widget_id, booking_open_text(reference, service_name, attribution), booking_customer_text(customer_name, customer_email))) WITH (gin_pending_list_limit='64');

create table day_zones (
  organization_id text not null,
  zone text not null,
  rules text not null,
  rules_release text not null,
  version integer not null,
  sealed_before date not null,
  kept_since timestamp(3) with time zone default '1970-01-01 00:00:00+00'::timestamp with time zone not null,
  building_version integer,
  building_rules text,
  packed_from date,
  packed_before date,
  constraint day_zones_check CHECK (((building_version IS NULL) = (building_rules IS NULL))),
  constraint day_zones_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id),
  constraint day_zones_pkey PRIMARY KEY (organization_id)
);

create table deleted_organizations (
  id text not null,
  name text not null,
  deleted_at timestamp(3) with time zone not null,
  deleted_by text,
  bookings integer not null,
  members integer not null,
  constraint deleted_organizations_pkey PRIMARY KEY (id)
);

create table deletion_clocks (
  organization_id text not null,
  last_deleted_at timestamp(3) with time zone not null,
  constraint deletion_clocks_pkey PRIMARY KEY (organization_id)
);

create table deliveries (
  organization_id text not null,
  id uuid not null,
  event_id text not null,
  endpoint_id text not null,
  state text not null,
  cancel_reason text,
  card bytea,
  attempt_count integer not null,
  retries_used integer not null,
  next_attempt_at timestamp(3) with time zone,
  last_status integer,
  last_error text,
  created_at timestamp(3) with time zone not null,
  completed_at timestamp(3) with time zone,
  redelivery_id text,
  constraint deliveries_cancel_reason_check CHECK ((cancel_reason = ANY (ARRAY['endpoint_disabled'::text, 'endpoint_removed'::text, 'plan'::text, 'erased'::text]))),
  constraint deliveries_state_check CHECK ((state = ANY (ARRAY['queued'::text, 'retrying'::text, 'delivered'::text, 'failed'::text, 'canceled'::text]))),
  constraint deliveries_organization_id_endpoint_id_fkey FOREIGN KEY (organization_id, endpoint_id) REFERENCES endpoints(organization_id, id),
  constraint deliveries_organization_id_event_id_fkey FOREIGN KEY (organization_id, event_id) REFERENCES webhook_events(organization_id, id) ON DELETE CASCADE,
  constraint deliveries_pkey PRIMARY KEY (organization_id, id),
  constraint deliveries_organization_id_event_id_endpoint_id_key UNIQUE (organization_id, event_id, endpoint_id)
);
CREATE INDEX deliveries_by_endpoint ON public.deliveries USING btree (organization_id, endpoint_id, created_at DESC, id);
CREATE INDEX deliveries_by_redelivery_id ON public.deliveries USING btree (organization_id, redelivery_id) WHERE (redelivery_id IS NOT NULL);
CREATE INDEX deliveries_by_time ON public.deliveries USING btree (organization_id, created_at DESC, id);

create table delivery_attempts (
  organization_id text not null,
  delivery_id uuid not null,
  number integer not null,
  endpoint_id text not null,
  trigger text not null,
  started_at timestamp(3) with time zone not null,
  result text not null,
  duration_ms integer,
  status integer,
  error_code text,
  reply text,
  reply_is_truncated boolean default false not null,
  next_attempt_at timestamp(3) with time zone,
  detail json,
  constraint delivery_attempts_result_check CHECK ((result = ANY (ARRAY['delivered'::text, 'failed'::text, 'interrupted'::text]))),
  constraint delivery_attempts_trigger_check CHECK ((trigger = ANY (ARRAY['automatic'::text, 'manual'::text]))),
  constraint delivery_attempts_organization_id_delivery_id_fkey FOREIGN KEY (organization_id, delivery_id) REFERENCES deliveries(organization_id, id) ON DELETE CASCADE,
  constraint delivery_attempts_pkey PRIMARY KEY (organization_id, delivery_id, number)
);
CREATE INDEX delivery_attempts_by_time ON public.delivery_attempts USING btree (organization_id, started_at DESC, delivery_id, number);

create table delivery_lanes (
  endpoint_id text not null,
  organization_id text not null,
  state text not null,
  is_chat boolean not null,
  is_failing boolean not null,
  paused_until timestamp(3) with time zone,
  requests_per_minute integer,
  rated_until timestamp(3) with time zone,
  constraint delivery_lanes_state_check CHECK ((state = ANY (ARRAY['open'::text, 'disabled'::text, 'removed'::text]))),
  constraint delivery_lanes_pkey PRIMARY KEY (endpoint_id)
);

create table delivery_queue (
  delivery_id uuid not null,
  organization_id text not null,
  endpoint_id text not null,
  trigger text not null,
  is_test boolean not null,
  due_at timestamp(3) with time zone not null,
  lease_token uuid,
  leased_at timestamp(3) with time zone,
  lease_until timestamp(3) with time zone,
  leased_by integer,
  resume_at timestamp(3) with time zone,
  redelivery_id text,
  constraint delivery_queue_check CHECK ((((lease_token IS NULL) = (leased_at IS NULL)) AND ((lease_token IS NULL) = (lease_until IS NULL)))),
  constraint delivery_queue_trigger_check CHECK ((trigger = ANY (ARRAY['automatic'::text, 'manual'::text]))),
  constraint delivery_queue_pkey PRIMARY KEY (delivery_id)
);
CREATE INDEX delivery_queue_leased ON public.delivery_queue USING btree (endpoint_id) INCLUDE (organization_id, lease_until, leased_by) WHERE (lease_token IS NOT NULL);
CREATE INDEX delivery_queue_manual ON public.delivery_queue USING btree (organization_id) WHERE (trigger = 'manual'::text);
CREATE INDEX delivery_queue_redelivered ON public.delivery_queue USING btree (redelivery_id) WHERE (redelivery_id IS NOT NULL);
CREATE INDEX delivery_queue_waiting ON public.delivery_queue USING btree (endpoint_id, due_at) WHERE (lease_token IS NULL);
CREATE INDEX delivery_queue_waiting_tests ON public.delivery_queue USING btree (due_at) WHERE (is_test AND (lease_token IS NULL));

create table endpoint_notices (
  organization_id text not null,
  id uuid not null,
  endpoint_id text not null,
  kind text not null,
  detail text not null,
  created_at timestamp(3) with time zone not null,
  mailed_at timestamp(3) with time zone,
  mail_tried_at timestamp(3) with time zone,
  constraint endpoint_notices_kind_check CHECK ((kind = ANY (ARRAY['exhausted'::text, 'disabling_soon'::text, 'disabled'::text]))),
  constraint endpoint_notices_organization_id_endpoint_id_fkey FOREIGN KEY (organization_id, endpoint_id) REFERENCES endpoints(organization_id, id),
  constraint endpoint_notices_pkey PRIMARY KEY (organization_id, id)
);
CREATE INDEX endpoint_notices_by_endpoint ON public.endpoint_notices USING btree (organization_id, endpoint_id, kind, created_at DESC);
CREATE INDEX endpoint_notices_unmailed ON public.endpoint_notices USING btree (created_at) WHERE (mailed_at IS NULL);

create table endpoints (
  id text not null,
  organization_id text not null,
  kind text not null,
  url text not null,
  sealed_url bytea,
  receiver integer default 1 not null,
  description text not null,
  status text not null,
  disabled_reason text,
  disabled_at timestamp(3) with time zone,
  secret bytea not null,
  secret_hint text not null,
  secret_created_at timestamp(3) with time zone not null,
  previous_secret bytea,
  previous_secret_expires_at timestamp(3) with time zone,
  failing_since timestamp(3) with time zone,
  failed_attempts integer default 0 not null,
  exhausted_deliveries integer default 0 not null,
  refused_deliveries integer default 0 not null,
  last_attempt_at timestamp(3) with time zone,
  last_success_at timestamp(3) with time zone,
  last_status integer,
  paused_until timestamp(3) with time zone,
  created_at timestamp(3) with time zone not null,
  updated_at timestamp(3) with time zone not null,
  removed_at timestamp(3) with time zone,
  event_types text[] default '{booking.created}'::text[] not null,
  widget_ids text[],
  reports_expiry boolean default false not null,
  header_names text[] default '{}'::text[] not null,
  headers bytea,
  requests_per_minute integer,
  constraint endpoints_check CHECK (((status = 'disabled'::text) = (disabled_reason IS NOT NULL))),
  constraint endpoints_disabled_reason_check CHECK ((disabled_reason = ANY (ARRAY['manual'::text, 'gone'::text, 'failing'::text]))),
  constraint endpoints_kind_check CHECK ((kind = ANY (ARRAY['webhook'::text, 'teams'::text, 'slack'::text]))),
  constraint endpoints_requests_per_minute_check CHECK (((requests_per_minute >= 1) AND (requests_per_minute <= 6000))),
  constraint endpoints_status_check CHECK ((status = ANY (ARRAY['enabled'::text, 'disabled'::text]))),
  constraint endpoints_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id),
  constraint endpoints_pkey PRIMARY KEY (organization_id, id)
);

create table funnel_days (
  organization_id text not null,
  version integer not null,
  widget_id text not null,
  day date not null,
  reached_1 integer not null,
  reached_2 integer not null,
  reached_3 integer not null,
  reached_4 integer not null,
  reached_5 integer not null,
  reached_6 integer not null,
  no_availability integer not null,
  bookings integer not null,
  failed integer not null,
  lead_ms bigint not null,
  lead_count integer not null,
  constraint funnel_days_pkey PRIMARY KEY (organization_id, version, widget_id, day)
);

create table funnel_drops (
  organization_id text not null,
  widget_id text not null,
  hour timestamp(3) with time zone not null,
  events integer not null,
  constraint funnel_drops_pkey PRIMARY KEY (organization_id, widget_id, hour)
);

create table funnel_key_days (
  organization_id text not null,
  version integer not null,
  widget_id text not null,
  day date not null,
  kind smallint not null,
  key bigint not null,
  views integer not null,
  bookings integer not null,
  constraint funnel_key_days_pkey PRIMARY KEY (organization_id, version, widget_id, day, kind, key)
);

create table funnel_key_spans (
  organization_id text not null,
  version integer not null,
  widget_id text not null,
  span_days integer not null,
  start_day date not null,
  kind smallint not null,
  key bigint not null,
  views integer not null,
  bookings integer not null,
  constraint funnel_key_spans_pkey PRIMARY KEY (organization_id, version, widget_id, span_days, start_day, kind, key)
);

create table funnel_keys (
  organization_id text not null,
  id bigint not null,
  kind smallint not null,
  key text not null,
  used_on date not null,
  constraint funnel_keys_pkey PRIMARY KEY (organization_id, id)
);

create table funnel_visits (
  organization_id text not null,
  widget_id text not null,
  visit_id uuid not null,
  started_at timestamp(3) with time zone not null,
  channel bigint not null,
  source bigint not null,
  campaign bigint not null,
  page bigint not null,
  device bigint not null,
  country bigint not null,
  viewed_at timestamp(3) with time zone,
  service_at timestamp(3) with time zone,
  date_at timestamp(3) with time zone,
  slot_at timestamp(3) with time zone,
  form_at timestamp(3) with time zone,
  no_availability_at timestamp(3) with time zone,
  converted_at timestamp(3) with time zone,
  bookings jsonb,
  failures jsonb,
  constraint funnel_visits_pkey PRIMARY KEY (organization_id, widget_id, visit_id)
);
CREATE INDEX funnel_visits_by_conversion ON public.funnel_visits USING btree (organization_id, converted_at) WHERE (converted_at IS NOT NULL);
CREATE INDEX funnel_visits_by_start ON public.funnel_visits USING btree (organization_id, started_at);

create table invitations (
  organization_id text not null,
  id text not null,
  email text not null,
  role text not null,
  token_hash bytea not null,
  invited_by text,
  created_at timestamp(3) with time zone not null,
  expires_at timestamp(3) with time zone not null,
  constraint invitations_email_check CHECK ((email = lower(email))),
  constraint invitations_role_check CHECK ((role = ANY (ARRAY['owner'::text, 'admin'::text, 'member'::text, 'viewer'::text]))),
  constraint invitations_invited_by_fkey FOREIGN KEY (invited_by) REFERENCES users(id) ON DELETE SET NULL,
  constraint invitations_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id),
  constraint invitations_pkey PRIMARY KEY (organization_id, id),
  constraint invitations_organization_id_email_key UNIQUE (organization_id, email),
  constraint invitations_token_hash_key UNIQUE (token_hash)
);

create table live_periods (
  organization_id text not null,
  widget_id text not null,
  started_at timestamp(3) with time zone not null,
  ended_at timestamp(3) with time zone,
  is_practice boolean default false not null,
  constraint live_periods_organization_id_widget_id_fkey FOREIGN KEY (organization_id, widget_id) REFERENCES widgets(organization_id, id),
  constraint live_periods_pkey PRIMARY KEY (organization_id, widget_id, started_at)
);

create table members (
  organization_id text not null,
  user_id text not null,
  role text not null,
  created_at timestamp(3) with time zone not null,
  last_used_at timestamp(3) with time zone,
  constraint members_role_check CHECK ((role = ANY (ARRAY['owner'::text, 'admin'::text, 'member'::text, 'viewer'::text]))),
  constraint members_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id),
  constraint members_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE,
  constraint members_pkey PRIMARY KEY (organization_id, user_id)
);
CREATE INDEX members_by_user ON public.members USING btree (user_id);

create table organization_logos (
  organization_id text not null,
  content_type text not null,
  content bytea not null,
  updated_at timestamp(3) with time zone not null,
  constraint organization_logos_content_type_check CHECK ((content_type = ANY (ARRAY['image/png'::text, 'image/jpeg'::text, 'image/webp'::text]))),
  constraint organization_logos_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id),
  constraint organization_logos_pkey PRIMARY KEY (organization_id)
);

create table organizations (
  id text not null,
  name text not null,
  plan text not null,
  time_zone text,
  created_at timestamp(3) with time zone not null,
  constraint organizations_plan_check CHECK ((plan = ANY (ARRAY['free'::text, 'pro'::text, 'business'::text]))),
  constraint organizations_pkey PRIMARY KEY (id)
);

create table pending_bookings (
  organization_id text not null,
  reference text not null,
  widget_id text not null,
  asked_in text not null,
  key_hash bytea not null,
  service_id text not null,
  start_at timestamp(3) with time zone not null,
  state text not null,
  asking_until timestamp(3) with time zone not null,
  given_up_at timestamp(3) with time zone not null,
  touch jsonb not null,
  copy jsonb,
  erased boolean default false not null,
  failure text,
  answer jsonb,
  created_at timestamp(3) with time zone not null,
  settled_at timestamp(3) with time zone,
  constraint pending_bookings_check CHECK (((state = 'asking'::text) = (settled_at IS NULL))),
  constraint pending_bookings_check1 CHECK (((state = 'asking'::text) OR (copy IS NULL))),
  constraint pending_bookings_state_check CHECK ((state = ANY (ARRAY['asking'::text, 'confirmed'::text, 'failed'::text]))),
  constraint pending_bookings_pkey PRIMARY KEY (organization_id, reference),
  constraint pending_bookings_organization_id_widget_id_key_hash_key UNIQUE (organization_id, widget_id, key_hash)
);
CREATE INDEX pending_bookings_asking ON public.pending_bookings USING btree (asking_until) WHERE (state = 'asking'::text);
CREATE INDEX pending_bookings_settled ON public.pending_bookings USING btree (settled_at) WHERE (state <> 'asking'::text);

create table redeliveries (
  organization_id text not null,
  id text not null,
  filter json not null,
  state text not null,
  matched integer not null,
  queued integer not null,
  place_at timestamp(3) with time zone not null,
  place_id uuid not null,
  created_at timestamp(3) with time zone not null,
  finished_at timestamp(3) with time zone,
  kept_delivered integer default 0 not null,
  kept_failed integer default 0 not null,
  kept_canceled integer default 0 not null,
  constraint redeliveries_state_check CHECK ((state = ANY (ARRAY['running'::text, 'finished'::text, 'canceled'::text]))),
  constraint redeliveries_pkey PRIMARY KEY (organization_id, id)
);
CREATE INDEX redeliveries_running ON public.redeliveries USING btree (created_at) WHERE (state = 'running'::text);

create table report_subscriptions (
  organization_id text not null,
  user_id text not null,
  period text not null,
  token text not null,
  next_start date not null,
  tried_at timestamp(3) with time zone,
  created_at timestamp(3) with time zone not null,
  constraint report_subscriptions_period_check CHECK ((period = ANY (ARRAY['weekly'::text, 'monthly'::text]))),
  constraint report_subscriptions_organization_id_user_id_fkey FOREIGN KEY (organization_id, user_id) REFERENCES members(organization_id, user_id) ON DELETE CASCADE,
  constraint report_subscriptions_pkey PRIMARY KEY (organization_id, user_id, period),
  constraint report_subscriptions_organization_id_token_key UNIQUE (organization_id, token)
);

create table sandbox_appointments (
  organization_id text not null,
  widget_id text not null,
  reference text not null,
  id text not null,
  service_id text not null,
  staff_id text not null,
  start_at timestamp(3) with time zone not null,
  end_at timestamp(3) with time zone not null,
  manage_secret text not null,
  join_secret text,
  created_at timestamp(3) with time zone not null,
  canceled_at timestamp(3) with time zone,
  constraint sandbox_appointments_organization_id_widget_id_fkey FOREIGN KEY (organization_id, widget_id) REFERENCES sandboxes(organization_id, widget_id),
  constraint sandbox_appointments_pkey PRIMARY KEY (organization_id, widget_id, reference)
);
CREATE INDEX sandbox_appointments_by_end ON public.sandbox_appointments USING btree (organization_id, end_at);

create table sandbox_busy (
  organization_id text not null,
  widget_id text not null,
  resource text not null,
  cell_at timestamp(3) with time zone not null,
  reference text not null,
  constraint sandbox_busy_organization_id_widget_id_reference_fkey FOREIGN KEY (organization_id, widget_id, reference) REFERENCES sandbox_appointments(organization_id, widget_id, reference) ON DELETE CASCADE,
  constraint sandbox_busy_pkey PRIMARY KEY (organization_id, widget_id, resource, cell_at)
);
CREATE INDEX sandbox_busy_by_appointment ON public.sandbox_busy USING btree (organization_id, widget_id, reference);

create table sandboxes (
  organization_id text not null,
  widget_id text not null,
  setup jsonb not null,
  created_at timestamp(3) with time zone not null,
  constraint sandboxes_organization_id_widget_id_fkey FOREIGN KEY (organization_id, widget_id) REFERENCES widgets(organization_id, id),
  constraint sandboxes_pkey PRIMARY KEY (organization_id, widget_id)
);

create table scheduling_connections (
  id text not null,
  organization_id text not null,
  kind text not null,
  name text not null,
  settings jsonb not null,
  credentials bytea not null,
  last_ok_at timestamp(3) with time zone,
  last_error text,
  last_error_at timestamp(3) with time zone,
  last_error_status integer,
  last_error_request_id text,
  created_at timestamp(3) with time zone not null,
  updated_at timestamp(3) with time zone not null,
  constraint scheduling_connections_check CHECK (((last_error IS NULL) = (last_error_at IS NULL))),
  constraint scheduling_connections_kind_check CHECK ((kind = ANY (ARRAY['microsoft-bookings'::text, 'calcom'::text, 'calendly'::text]))),
  constraint scheduling_connections_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id),
  constraint scheduling_connections_pkey PRIMARY KEY (organization_id, id)
);

create table schema_migrations (
  number integer not null,
  name text not null,
  applied_at timestamp(3) with time zone default CURRENT_TIMESTAMP not null,
  constraint schema_migrations_pkey PRIMARY KEY (number)
);

create table setup_links (
  token_hash bytea not null,
  created_at timestamp(3) with time zone not null,
  constraint setup_links_pkey PRIMARY KEY (token_hash)
);

create table user_accounts (
  id text not null,
  user_id text not null,
  provider_id text not null,
  account_id text not null,
  password text,
  access_token text,
  refresh_token text,
  id_token text,
  access_token_expires_at timestamp(3) with time zone,
  refresh_token_expires_at timestamp(3) with time zone,
  scope text,
  created_at timestamp(3) with time zone not null,
  updated_at timestamp(3) with time zone not null,
  constraint user_accounts_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE,
  constraint user_accounts_pkey PRIMARY KEY (id),
  constraint user_accounts_provider_id_account_id_key UNIQUE (provider_id, account_id)
);
CREATE INDEX user_accounts_by_user ON public.user_accounts USING btree (user_id);

create table user_sessions (
  id text not null,
  user_id text not null,
  token text not null,
  ip_address text,
  user_agent text,
  expires_at timestamp(3) with time zone not null,
  created_at timestamp(3) with time zone not null,
  updated_at timestamp(3) with time zone not null,
  constraint user_sessions_ip_address_check CHECK ((ip_address IS NULL)),
  constraint user_sessions_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE,
  constraint user_sessions_pkey PRIMARY KEY (id),
  constraint user_sessions_token_key UNIQUE (token)
);
CREATE INDEX user_sessions_by_expiry ON public.user_sessions USING btree (expires_at);
CREATE INDEX user_sessions_by_user ON public.user_sessions USING btree (user_id);

create table user_two_factors (
  id text not null,
  user_id text not null,
  secret text not null,
  backup_codes text not null,
  verified boolean default true not null,
  failed_verification_count integer default 0 not null,
  locked_until timestamp(3) with time zone,
  constraint user_two_factors_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE,
  constraint user_two_factors_pkey PRIMARY KEY (id)
);
CREATE INDEX user_two_factors_by_user ON public.user_two_factors USING btree (user_id);

create table user_verifications (
  id text not null,
  identifier text not null,
  value text not null,
  expires_at timestamp(3) with time zone not null,
  created_at timestamp(3) with time zone not null,
  updated_at timestamp(3) with time zone not null,
  constraint user_verifications_pkey PRIMARY KEY (id)
);
CREATE INDEX user_verifications_by_expiry ON public.user_verifications USING btree (expires_at);
CREATE INDEX user_verifications_by_identifier ON public.user_verifications USING btree (identifier);

create table users (
  id text not null,
  name text not null,
  email text not null,
  email_verified boolean not null,
  image text,
  two_factor_enabled boolean default false not null,
  created_at timestamp(3) with time zone not null,
  updated_at timestamp(3) with time zone not null,
  constraint users_email_check CHECK ((email = lower(email))),
  constraint users_pkey PRIMARY KEY (id),
  constraint users_email_key UNIQUE (email)
);

create table visit_packs (
  organization_id text not null,
  day date not null,
  part integer not null,
  changes integer not null,
  last_at timestamp(3) with time zone,
  data bytea,
  digest bytea generated always as (sha256(data)) stored,
  constraint visit_packs_pkey PRIMARY KEY (organization_id, day, part)
);
CREATE INDEX visit_packs_outdated ON public.visit_packs USING btree (organization_id, day) WHERE (data IS NULL);

create table webhook_events (
  organization_id text not null,
  id text not null,
  type text not null,
  reference text,
  body bytea,
  created_at timestamp(3) with time zone not null,
  widget_id text,
  constraint webhook_events_pkey PRIMARY KEY (organization_id, id)
);
CREATE INDEX webhook_events_by_reference ON public.webhook_events USING btree (organization_id, reference);
CREATE INDEX webhook_events_by_time ON public.webhook_events USING btree (organization_id, created_at);

create table widgets (
  id text not null,
  organization_id text not null,
  name text not null,
  business_name text not null,
  booking_url text,
  connection_id text,
  template text not null,
  accent_color text,
  allowed_domains text[] default '{}'::text[] not null,
  status text not null,
  collect_data boolean not null,
  created_at timestamp(3) with time zone not null,
  options jsonb default '{}'::jsonb not null,
  offers jsonb default '{}'::jsonb not null,
  constraint widgets_accent_color_check CHECK ((accent_color ~ '^#[0-9a-f]{6}$'::text)),
  constraint widgets_status_check CHECK ((status = ANY (ARRAY['active'::text, 'paused'::text]))),
  constraint widgets_template_check CHECK ((template = ANY (ARRAY['classic'::text, 'compact'::text, 'minimal'::text]))),
  constraint widgets_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id),
  constraint widgets_pkey PRIMARY KEY (id),
  constraint widgets_organization_id_id_key UNIQUE (organization_id, id)
);
CREATE INDEX widgets_by_connection ON public.widgets USING btree (organization_id, connection_id) WHERE (connection_id IS NOT NULL);

create table zone_offsets (
  rules text not null,
  from_at timestamp(3) with time zone not null,
  until_at timestamp(3) with time zone not null,
  shift interval not null,
  constraint zone_offsets_pkey PRIMARY KEY (rules, from_at)
);

CREATE OR REPLACE FUNCTION public.booking_api_json(reference text, status text, created_at timestamp with time zone, start_at timestamp with time zone, end_at timestamp with time zone, time_zone text, service_id text, service_name text, staff jsonb, customer_name text, customer_email text, customer_phone text, customer_notes text, answers jsonb, attribution jsonb, manage_url text)
 RETURNS text
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE
AS $function$
declare
  iso constant text := 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"';
  attribution_names constant text[] := array[
    'source', 'medium', 'campaign', 'channel', 'pageUrl', 'landingPage', 'referrer', 'utmSource', 'utmMedium', 'utmCampaign',
    'utmTerm', 'utmContent', 'gclid', 'gbraid', 'wbraid', 'fbclid', 'msclkid', 'liFatId', 'ttclid', 'gaClientId', 'fbp', 'fbc',
    'firstSeenAt', 'currentPage', 'touches'
  ];
begin
  return '{"reference":' || to_json(reference) || ',"status":' || to_json(status)
    || ',"createdAt":"' || to_char(created_at at time zone 'UTC', iso)
    || '","start":"' || to_char(start_at at time zone 'UTC', iso)
    || '","end":"' || to_char(end_at at time zone 'UTC', iso)
    || '","timeZone":' || to_json(time_zone)
    || ',"service":{"id":' || to_json(service_id) || ',"name":' || to_json(service_name)
    || '},"staff":' || jsonb_path_query_array(staff, '$[*].name')::text
    || ',"customer":{"name":' || to_json(customer_name) || ',"email":' || to_json(customer_email)
    || ',"phone":' || coalesce(to_json(customer_phone)::text, 'null')
    || ',"notes":' || coalesce(to_json(customer_notes)::text, 'null')
    || '},"answers":[' || (
      select case when count(*) = count(item) then coalesce(string_agg(item, ',' order by place), '') end
      from (
        select place, '{"questionId":' || (answer -> 'questionId')::text || ',"question":' || (answer -> 'question')::text
          || ',"answer":' || (answer -> 'answer')::text || '}' as item
        from jsonb_array_elements(answers) with ordinality as answered (answer, place)
      ) items)
    || '],"attribution":{' || coalesce((
      select string_agg('"' || key || '":' || value::text, ',') from jsonb_each(attribution)
      where key = any(attribution_names)), '')
    || '}' || coalesce(',"manageUrl":' || to_json(manage_url), '') || '}';
end
$function$
;

CREATE OR REPLACE FUNCTION public.booking_customer_text(customer_name text, customer_email text)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN lower((NORMALIZE(((customer_name || '
'::text) || customer_email)) COLLATE pg_c_utf8))
;

CREATE OR REPLACE FUNCTION public.booking_grams(organization_id text, created_at timestamp with time zone, widget_id text, open_text text, customer_text text)
 RETURNS tsvector
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE COST 10000
AS $function$
declare
  scope text := substr(organization_id, 5) || floor(extract(epoch from created_at - to_timestamp(0)) / 604800)::integer || ':';
  grams text[] := array[scope || 'w' || widget_id];
  letters text[] := string_to_array(open_text || E'\n\n', null);
begin
  for i in 1 .. cardinality(letters) - 2 loop
    grams := grams || (scope || 'o' || letters[i] || letters[i + 1] || letters[i + 2]);
  end loop;
  letters := string_to_array(customer_text || E'\n\n', null);
  for i in 1 .. cardinality(letters) - 2 loop
    grams := grams || (scope || 'c' || letters[i] || letters[i + 1] || letters[i + 2]);
  end loop;
  return array_to_tsvector(grams);
end
$function$
;

CREATE OR REPLACE FUNCTION public.booking_open_text(reference text, service_name text, attribution jsonb)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN lower((NORMALIZE(((((reference || '
'::text) || service_name) || '
'::text) || COALESCE((attribution ->> 'campaign'::text), ''::text))) COLLATE pg_c_utf8))
;

CREATE OR REPLACE FUNCTION public.unite_conversions(a jsonb, b jsonb)
 RETURNS jsonb
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
  select case
    when a is null then b
    when b is null then a
    else (
      select jsonb_object_agg(key, value) from (
        select distinct on (key) key, value
        from (select key, value from jsonb_each(a) union all select key, value from jsonb_each(b)) both_sets
        order by key, (value ->> 0)::bigint, (value ->> 1)::bigint nulls last, (value ->> 2) collate "C" nulls last
      ) united
    )
  end
$function$
;
