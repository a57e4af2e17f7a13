-- The JSON of a booking is written by the program, from the contract's schema. So far the function booking_api_json did it, a second
-- definition, which left out gad_source and gad_campaignid. Stored texts stay as they are; the next file adds those two.
--
-- Nothing is rewritten: bookings is locked for milliseconds, once the statements that are using it have ended. A process of the
-- previous version can't store bookings any more: it has confirmed them to the visitor, and a process of this version stores them
-- within minutes (bookings/flow/settle-overdue.ts).

do $$
begin
  -- Citus has no such command for distributed tables, so each server changes its own, first the shards and the coordinator last:
  -- while it waits for a shard, nothing is locked here.
  if to_regclass('pg_dist_partition') is not null then
    if exists (select from pg_dist_partition where logicalrelid = 'bookings'::regclass) then
      if exists (
        select from run_command_on_shards('bookings', 'alter table %s alter column api_json drop expression if exists')
        where not success
      ) or exists (
        select from run_command_on_workers($command$do $worker$ begin
          set local citus.enable_ddl_propagation = off;
          alter table bookings alter column api_json drop expression if exists;
        end $worker$ $command$) where not success
      ) then
        raise exception 'a server of the cluster could not change bookings.api_json; start again when all servers are up';
      end if;
      set local citus.enable_ddl_propagation = off;
    end if;
  end if;
  alter table bookings alter column api_json drop expression;
  if to_regclass('pg_dist_partition') is not null then
    set local citus.enable_ddl_propagation = on;
  end if;
end
$$;

drop function booking_api_json;
