-- People who sign in, their sign-ins, what they belong to, invitations, and the log of what they changed.

-- The tables users to user_two_factors are written by better-auth (accounts/auth/auth.ts maps its names to these).

create table users (
  id text primary key,
  name text not null,
  email text not null unique check (email = lower(email)),
  email_verified boolean not null,
  image text,
  two_factor_enabled boolean not null default false,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null
);

create table user_sessions (
  id text primary key,
  user_id text not null references users (id) on delete cascade,
  token text not null unique,
  ip_address text check (ip_address is null),
  user_agent text,
  expires_at timestamptz(3) not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null
);
comment on column user_sessions.token is 'worth nothing without the signature that SECRET_KEY makes in the cookie';
comment on column user_sessions.ip_address is 'better-auth has this column; addresses are never kept';
comment on column user_sessions.user_agent is 'browser and system in words, such as Firefox on Linux';
create index user_sessions_by_user on user_sessions (user_id);
create index user_sessions_by_expiry on user_sessions (expires_at);

create table user_accounts (
  id text primary key,
  user_id text not null references users (id) on delete cascade,
  provider_id text not null,
  account_id text not null,
  password text,
  access_token text,
  refresh_token text,
  id_token text,
  access_token_expires_at timestamptz(3),
  refresh_token_expires_at timestamptz(3),
  scope text,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  unique (provider_id, account_id)
);
comment on table user_accounts is 'a way to sign in: a password (provider credential), or an identity elsewhere';
comment on column user_accounts.password is 'argon2id';
create index user_accounts_by_user on user_accounts (user_id);

create table user_verifications (
  id text primary key,
  identifier text not null,
  value text not null,
  expires_at timestamptz(3) not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null
);
comment on table user_verifications is 'links and codes that are used once; identifiers are hashed';
create index user_verifications_by_identifier on user_verifications (identifier);
create index user_verifications_by_expiry on user_verifications (expires_at);

create table user_two_factors (
  id text primary key,
  user_id text not null references users (id) on delete cascade,
  secret text not null,
  backup_codes text not null,
  verified boolean not null default true,
  failed_verification_count integer not null default 0,
  locked_until timestamptz(3)
);
comment on column user_two_factors.secret is 'encrypted under SECRET_KEY, like the recovery codes';
create index user_two_factors_by_user on user_two_factors (user_id);

create table members (
  organization_id text not null references organizations (id),
  user_id text not null references users (id) on delete cascade,
  role text not null check (role in ('owner', 'admin', 'member', 'viewer')),
  created_at timestamptz(3) not null,
  last_used_at timestamptz(3),
  primary key (organization_id, user_id)
);
comment on column members.last_used_at is 'of several organizations, the one used last is shown first';
create index members_by_user on members (user_id);

create table invitations (
  organization_id text not null references organizations (id),
  id text not null,
  email text not null check (email = lower(email)),
  role text not null check (role in ('owner', 'admin', 'member', 'viewer')),
  token_hash bytea not null unique,
  invited_by text references users (id) on delete set null,
  created_at timestamptz(3) not null,
  expires_at timestamptz(3) not null,
  primary key (organization_id, id),
  unique (organization_id, email)
);
comment on table invitations is 'open ones only: accepted and withdrawn ones are in the audit log';

-- While there is no user, whoever holds one of these makes the first one. Emptied by that.
create table setup_links (
  token_hash bytea primary key,
  created_at timestamptz(3) not null
);

create table audit_entries (
  organization_id text not null references organizations (id),
  id uuid not null,
  at timestamptz(3) not null,
  user_id text,
  email text,
  action text not null,
  target text,
  detail jsonb not null,
  primary key (organization_id, id)
);
comment on table audit_entries is 'append only; nothing about customers';
comment on column audit_entries.user_id is 'null: the operator, on the command line';
create index audit_entries_by_time on audit_entries (organization_id, at desc, id desc);
