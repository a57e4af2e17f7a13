import { Kysely, PostgresDialect } from "kysely";
import { type Db, openPool } from "../../../src/server/db/connections/pool.ts";
import type { Tables } from "../../../src/server/db/tables/tables.ts";
import { createLog } from "../../../src/server/lib/log/log.ts";

/** Runs work as in a process that is killed after so many statements: all its connections break. With null, it may finish. */
export async function killedAfter(
  url: string,
  statements: number | null,
  work: (db: Db) => Promise<unknown>,
): Promise<void> {
  const pool = openPool({ url, size: 2, log: createLog("silent") });
  let left = statements ?? Number.POSITIVE_INFINITY;
  const streams = new Set<{ destroy(): unknown }>();
  const connect = async () => {
    const client = await pool.connect();
    streams.add((client as unknown as { connection: { stream: { destroy(): unknown } } }).connection.stream);
    return client;
  };
  const db: Db = new Kysely<Tables>({
    dialect: new PostgresDialect({ pool: { connect, end: () => pool.end(), options: pool.options } }),
    log: () => {
      left -= 1;
      if (left === 0) for (const stream of streams) stream.destroy();
    },
  });
  try {
    await work(db);
  } catch (error) {
    if (left > 0) throw error;
  } finally {
    await pool.end();
  }
}
