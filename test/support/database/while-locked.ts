import { sql } from "kysely";
import type { Home } from "../../../src/server/db/citus/homes.ts";
import type { Db } from "../../../src/server/db/connections/pool.ts";
import { listHomes } from "../../../src/server/db/home.ts";

/** Meanwhile nobody else reads or writes the table's rows, on any server. `share` lets others read. */
export async function whileLocked<T>(
  db: Db,
  name: string,
  run: () => Promise<T>,
  mode: "access exclusive" | "share" = "access exclusive",
): Promise<T> {
  const toShard = ({ group }: Home) => group?.names.get(name) ?? name;
  const homes = await listHomes(db);
  // Shard groups on the same server share its copy of a reference table.
  const places = new Map(homes.map((home) => [`${home.address} ${toShard(home)}`, home]));
  const lockAll = async ([home, ...others]: readonly Home[]): Promise<T> => {
    if (!home) return await run();
    return await home.writer.transaction().execute(async (transaction) => {
      await sql`select set_config('citus.enable_manual_changes_to_shards', 'on', true)`.execute(transaction);
      await sql`lock table ${sql.table(toShard(home))} in ${sql.raw(mode)} mode`.execute(transaction);
      return await lockAll(others);
    });
  };
  return await lockAll([...places.values()]);
}
