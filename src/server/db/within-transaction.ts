import type { Db } from "./pool.ts";

/** Runs in its own transaction, or in the caller's if there is one. */
export async function withinTransaction<T>(db: Db, run: (transaction: Db) => Promise<T>): Promise<T> {
  return db.isTransaction ? await run(db) : await db.transaction().execute(run);
}
