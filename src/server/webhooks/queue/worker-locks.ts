import { sql } from "kysely";
import type { Db } from "../../db/pool.ts";

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
    const missing = new Set(await listMissingHolders(db));
    const nowMs = performance.now();
    for (const holder of this.#missingSinceMs.keys()) if (!missing.has(holder)) this.#missingSinceMs.delete(holder);
    for (const holder of missing) {
      if (!this.#missingSinceMs.has(holder)) this.#missingSinceMs.set(holder, nowMs);
    }
    return [...this.#missingSinceMs].filter(([, sinceMs]) => nowMs - sinceMs >= MISSING_MS).map(([holder]) => holder);
  }
}

async function listMissingHolders(db: Db): Promise<number[]> {
  const { rows } = await sql<{ leased_by: number }>`-- prepared: list_missing_holders
    select distinct queue.leased_by from delivery_queue queue
    where queue.lease_token is not null and queue.leased_by is not null and not exists (
      select from pg_locks held
      where held.locktype = 'advisory' and held.objsubid = 2 and held.granted
        and held.database = (select oid from pg_database where datname = current_database())
        and held.classid::bigint = ${WORKER_LOCKS}::bigint and held.objid::bigint = queue.leased_by
    )`.execute(db);
  return rows.map((row) => row.leased_by);
}
