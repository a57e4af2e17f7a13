-- Reports by mail: who gets which, and which is next.

create table report_subscriptions (
  organization_id text collate "C" not null,
  user_id text not null,
  period text not null check (period in ('weekly', 'monthly')),
  -- Part of the link in each mail that ends the subscription.
  token text collate "C" not null,
  next_start date not null,
  tried_at timestamptz(3),
  created_at timestamptz(3) not null,
  primary key (organization_id, user_id, period),
  unique (organization_id, token),
  foreign key (organization_id, user_id) references members (organization_id, user_id) on delete cascade
);
comment on column report_subscriptions.next_start is 'first day of the next week or month to report; moves on before the mail is sent';
comment on column report_subscriptions.tried_at is 'a worker began then; others leave the report to it for a while';
