import { sql } from "kysely";
import type { Db } from "../../../src/server/db/connections/pool.ts";
import { isCluster } from "./database.ts";

const COUNT = "select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";

/** How many statements in this database wait for a lock, on any of its servers. */
export async function countBlocked(db: Db): Promise<number> {
  const query = isCluster()
    ? sql<{ count: number }>`select sum(result::integer) as count from run_command_on_all_nodes(${COUNT})`
    : sql<{ count: number }>`${sql.raw(COUNT)}`;
  const { rows } = await query.execute(db);
  return rows[0]?.count ?? 0;
}

/** Resolves when a statement in this database waits for a lock. */
export async function untilSomeoneWaits(db: Db): Promise<void> {
  while ((await countBlocked(db)) === 0);
}
