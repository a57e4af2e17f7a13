import { sql } from "kysely";
import type { Db } from "../../db/pool.ts";
import { acrossOrganizations } from "../../db/transactions.ts";
import { INDEXES_ONLY } from "./claim-queries.ts";

// Every worker process holds an advisory lock while it lives, and its leases carry the lock's number. PostgreSQL releases the
// lock when the process dies, so other workers notice that within seconds instead of waiting for the lease to expire.

/** The first key of these locks; the second is the worker's number. */
export const WORKER_LOCKS = 7_236_003;

/** A lock that is missing for this long belongs to a dead worker. A living one reconnects sooner. */
const MISSING_MS = 1_500;

export class DeadWorkers {
  /** When this process first saw that a worker's lock is missing. */
  readonly #missingSinceMs = new Map<number, number>();

  /** The numbers of workers that hold leases and are dead. Call it about once a second. */
  async find(db: Db): Promise<number[]> {
    const missing = new Set(await this.#listMissing(db));
    const nowMs = performance.now();
    for (const holder of this.#missingSinceMs.keys()) if (!missing.has(holder)) this.#missingSinceMs.delete(holder);
    for (const holder of missing) {
      if (!this.#missingSinceMs.has(holder)) this.#missingSinceMs.set(holder, nowMs);
    }
    return [...this.#missingSinceMs].filter(([, sinceMs]) => nowMs - sinceMs >= MISSING_MS).map(([holder]) => holder);
  }

  /** While the database is down, nobody holds a lock, and living workers need time to reconnect afterwards. */
  async #listMissing(db: Db): Promise<number[]> {
    try {
      return await listMissingHolders(db);
    } catch (error) {
      this.#missingSinceMs.clear();
      throw error;
    }
  }
}

/** Reads the leases by their index, not the whole queue, and the locks once. */
async function listMissingHolders(db: Db): Promise<number[]> {
  return await acrossOrganizations(db, async (transaction) => {
    await sql`select ${INDEXES_ONLY}`.execute(transaction);
    const { rows } = await sql<{ leased_by: number }>`-- prepared: list_missing_holders
      select distinct leased_by from delivery_queue
      where lease_token is not null and leased_by is not null and leased_by <> all(array(
        select objid::bigint from pg_locks
        where locktype = 'advisory' and objsubid = 2 and granted and classid::bigint = ${WORKER_LOCKS}::bigint
          and database = (select oid from pg_database where datname = current_database())
      ))`.execute(transaction);
    return rows.map((row) => row.leased_by);
  });
}
