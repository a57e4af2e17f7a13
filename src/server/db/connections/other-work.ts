import { sql } from "kysely";
import { assert } from "../../lib/assert.ts";
import { pause } from "../../lib/concurrency/pause.ts";
import { engineOf } from "../engine.ts";
import type { Db } from "./pool.ts";

// Tells long work, such as imports and retention, how much others use the database, so that it can give way to them. On a small
// machine, recording would otherwise get half of the processors.

/** The share of the time in which others' statements run. A service without visitors stays below a hundredth. */
const BUSY_SHARE = 0.1;
/** PostgreSQL's connections report what they did about once a second. */
const WINDOW_MS = 2_000;
const PAUSE_FACTOR = 4;
/** Long work on a cluster is slow already. */
const CITUS_PAUSE_MAX_MS = 2_000;

type Reading = { atMs: number; activeMs: number };

export class OtherWork {
  /** How long the long work's own statements took in this window. Those of a transaction that is still open don't count. */
  #ownMs = 0;
  #start: Reading | null = null;
  #isBusy: boolean | null = null;
  #isReading = false;

  addOwn(ms: number): void {
    this.#ownMs += ms;
  }

  /** Whether others are at work; null until the first window is over. */
  async isBusy(db: Db): Promise<boolean | null> {
    const isOver = this.#start === null || performance.now() - this.#start.atMs >= WINDOW_MS;
    // Two that work together would otherwise end the same window twice.
    if (!isOver || this.#isReading) return this.#isBusy;
    this.#isReading = true;
    const activeMs = await readActiveMs(db).finally(() => {
      this.#isReading = false;
    });
    const reading = { activeMs, atMs: performance.now() };
    if (this.#start) {
      const othersMs = reading.activeMs - this.#start.activeMs - this.#ownMs;
      this.#isBusy = othersMs / (reading.atMs - this.#start.atMs) > BUSY_SHARE;
    }
    this.#start = reading;
    this.#ownMs = 0;
    return this.#isBusy;
  }

  /** After a step of long work: leaves four fifths of the time to others at work. In its first window it assumes some. */
  async giveWay(db: Db, { stepMs, signal }: { stepMs: number; signal?: AbortSignal | undefined }): Promise<void> {
    const isBusy = await this.isBusy(db);
    if (isBusy === false) return;
    const longestMs =
      isBusy === null ? WINDOW_MS : engineOf(db) === "citus" ? CITUS_PAUSE_MAX_MS : Number.POSITIVE_INFINITY;
    await pause(Math.min(stepMs * PAUSE_FACTOR, longestMs), signal);
  }
}

/** How long statements have run in this database, all connections together. Open transactions are not included yet. */
async function readActiveMs(db: Db): Promise<number> {
  // Within a transaction PostgreSQL would repeat its first reply.
  await sql`select pg_stat_clear_snapshot()`.execute(db);
  const { rows } = await sql<{ active_time: number }>`
    select active_time from pg_stat_database where datname = current_database()`.execute(db);
  const [row] = rows;
  assert(row, "every database has a row");
  return row.active_time;
}
