import { sql } from "kysely";
import { table } from "../../db/home.ts";
import type { Db } from "../../db/pool.ts";
import { inTransaction } from "../../db/transactions.ts";
import { INDEXES_ONLY } from "./claim-queries.ts";

// Every worker process holds an advisory lock while it lives, on each server that has deliveries, and its leases carry the lock's
// number. PostgreSQL releases the lock when the process dies, so other workers notice that within seconds instead of waiting for the lease to expire.

/** The first key of these locks; the second is the worker's number. */
export const WORKER_LOCKS = 7_236_003;

/** A lock that is missing for this long belongs to a dead worker. A living one reconnects sooner. */
const MISSING_MS = 1_500;

export class DeadWorkers {
  /** When this process first saw that a worker's lock is missing. */
  readonly #missingSinceMs = new Map<number, number>();

  /** The numbers of workers that hold leases at this home and are dead. Call it about once a second, always for the same home. */
  async find(home: Db): Promise<number[]> {
    const missing = new Set(await this.#listMissing(home));
    const nowMs = performance.now();
    for (const holder of this.#missingSinceMs.keys()) if (!missing.has(holder)) this.#missingSinceMs.delete(holder);
    for (const holder of missing) {
      if (!this.#missingSinceMs.has(holder)) this.#missingSinceMs.set(holder, nowMs);
    }
    return [...this.#missingSinceMs].filter(([, sinceMs]) => nowMs - sinceMs >= MISSING_MS).map(([holder]) => holder);
  }

  /** While the database is down, nobody holds a lock, and living workers need time to reconnect afterwards. */
  async #listMissing(home: Db): Promise<number[]> {
    try {
      return await listMissingHolders(home);
    } catch (error) {
      this.#missingSinceMs.clear();
      throw error;
    }
  }
}

/** Reads the leases by their index, not the whole queue, and the locks once. */
async function listMissingHolders(home: Db): Promise<number[]> {
  return await inTransaction(home, async (transaction) => {
    await sql`select ${INDEXES_ONLY}`.execute(transaction);
    const { rows } = await sql<{ leased_by: number }>`-- prepared: list_missing_holders
      select distinct leased_by from ${table("delivery_queue")}
      where lease_token is not null and leased_by is not null and leased_by <> all(array(
        select objid::bigint from pg_locks
        where locktype = 'advisory' and objsubid = 2 and granted and classid::bigint = ${WORKER_LOCKS}::bigint
          and database = (select oid from pg_database where datname = current_database())
      ))`.execute(transaction);
    return rows.map((row) => row.leased_by);
  });
}
