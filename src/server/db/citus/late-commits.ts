import { sql } from "kysely";
import type { Log } from "../../lib/log/log.ts";
import type { Db } from "../connections/pool.ts";
import { engineOf } from "../engine.ts";

// With synchronous_commit = off, PostgreSQL confirms a commit before it is in the WAL. When Citus moves a shard without blocking
// writes, it copies what the WAL of the old server contains after the last write. It does not wait for such commits, and they
// are lost although nothing crashed.

/** Servers of the cluster with synchronous_commit = off, as host:port. Servers that are down are left out. */
export async function listLateCommitters(db: Db): Promise<string[]> {
  if (engineOf(db) === "postgresql") return [];
  const { rows } = await sql<{ address: string }>`
    select node.nodename || ':' || node.nodeport as address
    from run_command_on_all_nodes(${"select current_setting('synchronous_commit')"}) reply
    join pg_dist_node node using (nodeid)
    where reply.success and reply.result = 'off' order by node.nodeid`.execute(db);
  return rows.map(({ address }) => address);
}

export function describeLateCommitters(addresses: readonly string[]): string {
  return `Moving shards can lose what was just recorded, because synchronous_commit is off on ${addresses.join(", ")}. Turn it on.`;
}

/** Never fails: servers that are down must not keep a process from starting. */
export async function warnOfLateCommits({ db, log }: { db: Db; log: Log }): Promise<void> {
  try {
    const addresses = await listLateCommitters(db);
    if (addresses.length > 0) log.warn("database.synchronous_commit_off", { servers: addresses.join(", ") });
  } catch (error) {
    log.warn("database.settings_check_failed", { error });
  }
}
