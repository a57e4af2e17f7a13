-- What an organization should be told about its endpoints is also mailed. What was written before is not sent late.
alter table endpoint_notices add column mailed_at timestamptz(3);
alter table endpoint_notices add column mail_tried_at timestamptz(3);
update endpoint_notices set mailed_at = created_at;
create index endpoint_notices_unmailed on endpoint_notices (created_at) where mailed_at is null;
