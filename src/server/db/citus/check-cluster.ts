import type pg from "pg";
import { StartError } from "../../lib/start-error.ts";
import { hashText } from "./hash-text.ts";
import { FIRST_TABLE } from "./shard-map.ts";

// Direct statements (home.ts) rely on a few things that Citus does not promise. Every start checks them, before anything is written.

const CITUS_MAJOR = "14.";
const SAMPLES = ["", "a", "org_2", "org_3VdW8xq1", "exactly 12 b", "thirteen byte", "Zürich 東京 and 23 more bytes"];

/** On the coordinator, once the tables are distributed. */
export async function requireKnownCitus(client: pg.ClientBase): Promise<void> {
  const fault =
    (await findOtherVersion(client)) ??
    (await findOtherHash(client)) ??
    (await findMissingParts(client)) ??
    (await findOtherLock(client));
  if (fault !== null)
    throw new StartError(
      `${fault} Bookflow can't tell where this cluster keeps its rows. Use Citus 14, and see docs/scale.md.`,
    );
}

async function findOtherVersion(client: pg.ClientBase): Promise<string | null> {
  const { rows } = await client.query<{ version: string }>(
    "select extversion as version from pg_extension where extname = 'citus'",
  );
  const version = rows[0]?.version ?? "";
  return version.startsWith(CITUS_MAJOR) ? null : `The cluster has Citus ${version}.`;
}

async function findOtherHash(client: pg.ClientBase): Promise<string | null> {
  const { rows } = await client.query<{ text: string; hash: number }>(
    "select text, worker_hash(text) as hash from unnest($1::text[]) as text",
    [SAMPLES],
  );
  const differs = rows.some(({ text, hash }) => hash !== hashText(text));
  return differs ? "Citus hashes names in an unknown way." : null;
}

/** On each server that answers: every shard must be there under its expected name, with the functions that protect it. */
async function findMissingParts(client: pg.ClientBase): Promise<string | null> {
  const { rows } = await client.query<{ address: string; missing: string }>(
    `select node.nodename || ':' || node.nodeport as address, reply.result as missing
     from run_command_on_workers($1) reply join pg_dist_node node on (node.nodename, node.nodeport) = (reply.nodename, reply.nodeport)
     where reply.success and reply.result <> ''`,
    [MISSING_PARTS],
  );
  const [first] = rows;
  return first ? `The server ${first.address} has no ${first.missing}.` : null;
}

const MISSING_PARTS = `
  select coalesce((
    select min(name) from (
      select logicalrelid::text || '_' || shardid as name
      from pg_dist_shard join pg_dist_placement using (shardid) join pg_dist_local_group using (groupid)
      where to_regclass(logicalrelid::text || '_' || shardid) is null
      union all
      select signature from unnest(array['lock_shard_metadata(integer, bigint[])', 'bookflow_hold(bigint)', 'bookflow_look(bigint)'])
        as signature where to_regprocedure(signature) is null
    ) missing
  ), '')`;

/** Moves take this lock in exclusive mode: Citus's advisory lock for the placement of a shard group. */
const PLACEMENT_LOCK = 8;

async function findOtherLock(client: pg.ClientBase): Promise<string | null> {
  await client.query("begin");
  await client.query(
    `select lock_shard_metadata(5, array[min(shardid)]) from pg_dist_shard where logicalrelid = '${FIRST_TABLE}'::regclass`,
  );
  const { rows } = await client.query(
    `select from pg_locks where pid = pg_backend_pid() and locktype = 'advisory' and mode = 'ShareLock' and objsubid = ${PLACEMENT_LOCK}
       and objid = (select colocationid from pg_dist_partition where logicalrelid = '${FIRST_TABLE}'::regclass)::oid`,
  );
  await client.query("rollback");
  return rows.length === 1 ? null : "Citus locks shards in an unknown way.";
}
