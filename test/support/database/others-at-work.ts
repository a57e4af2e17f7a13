import type { TestContext } from "node:test";
import { sql } from "kysely";
import type { Db } from "../../../src/server/db/connections/pool.ts";

/** Stands still unless it is advanced, until the test ends: other files run in the same process. */
export function stopStopwatch(context: TestContext): { advance: (ms: number) => void } {
  let nowMs = 0;
  context.mock.method(performance, "now", () => nowMs);
  return {
    advance: (ms) => {
      nowMs += ms;
    },
  };
}

/** Keeps some connections busy, and has PostgreSQL report it at once, which it does only after reading a table. */
export async function workAsOthers(db: Db, { connections, ms }: { connections: number; ms: number }): Promise<void> {
  const work = async (connection: Db) => {
    await sql`select pg_sleep(${ms / 1000})`.execute(connection);
    await sql`select pg_stat_force_next_flush() from pg_database limit 1`.execute(connection);
  };
  await Promise.all(Array.from({ length: connections }, () => db.connection().execute(work)));
}
