import type pg from "pg";
import { PREPARED } from "../connections/careful-client.ts";

// What every direct statement runs first, in the same transaction (checked-connections.ts). Citus's own executor does the same: it
// takes the shard's metadata lock in share mode, and looks at the placement. A move or split takes that lock exclusively on every
// server, and holds it while it changes the placements. So whoever has the lock and sees the placement writes where the rows are.

/** Raised if the shard group is no longer on this server. */
export const MOVED = "BF001";

const IS_HERE = `if not exists (select from pg_catalog.pg_dist_placement join pg_catalog.pg_dist_local_group using (groupid)
    where shardid = shard) then
    raise exception 'shard % is not on this server', shard using errcode = '${MOVED}';
  end if`;

const FUNCTIONS = {
  // Two statements: the second has its own snapshot, which shows what a move has committed while the first one waited.
  bookflow_hold: `create function bookflow_hold(shard bigint) returns void language plpgsql as $$
begin
  perform pg_catalog.lock_shard_metadata(5, array[shard]);
  ${IS_HERE};
end $$`,
  // Without the lock, so nothing may be written.
  bookflow_look: `create function bookflow_look(shard bigint) returns void language plpgsql as $$
begin
  ${IS_HERE};
  perform set_config('transaction_read_only', 'on', true);
end $$`,
};

export function toHold(shard: string): string {
  return `${PREPARED}hold_${shard}\nselect from bookflow_hold(${shard})`;
}

export function toLook(shard: string): string {
  return `${PREPARED}look_${shard}\nselect from bookflow_look(${shard})`;
}

/** On the coordinator. Citus brings them to every other server, also to those that are added later. */
export async function createHomeFunctions(client: pg.ClientBase): Promise<void> {
  for (const [name, text] of Object.entries(FUNCTIONS)) {
    const { rows } = await client.query("select from pg_proc where proname = $1", [name]);
    if (rows.length === 0) await client.query(text);
  }
}
