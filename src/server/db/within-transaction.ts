import type { Db } from "./pool.ts";

/** In a transaction of its own, or in the caller's where there is one. */
export async function withinTransaction<T>(db: Db, run: (transaction: Db) => Promise<T>): Promise<T> {
  return db.isTransaction ? await run(db) : await db.transaction().execute(run);
}
