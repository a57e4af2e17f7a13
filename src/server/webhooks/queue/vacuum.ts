import type { Home } from "../../db/citus/homes.ts";
import { connectPatiently } from "../../db/pool.ts";
import type { Log } from "../../lib/log/log.ts";

const VACUUM_AFTER = 5_000;

/** Each delivery leaves dead rows where claims look first, and autovacuum comes too late at thousands a second. */
export class QueueVacuum {
  readonly #home: Home;
  readonly #log: Log;
  #finished = 0;
  #running: Promise<void> | null = null;

  constructor(home: Home, log: Log) {
    this.#home = home;
    this.#log = log;
  }

  /** An attempt has ended. */
  count(): void {
    if (++this.#finished < VACUUM_AFTER || this.#running) return;
    this.#finished = 0;
    this.#running = this.#vacuum().finally(() => {
      this.#running = null;
    });
  }

  async settled(): Promise<void> {
    await this.#running;
  }

  async #vacuum(): Promise<void> {
    const { pool, group } = this.#home;
    const queue = group?.names.get("delivery_queue") ?? "delivery_queue";
    try {
      const client = await connectPatiently(pool);
      await client.query(`vacuum (skip_locked, truncate false) ${queue}`).finally(() => client.release());
    } catch (error) {
      this.#log.warn("deliveries.vacuum_failed", { error });
    }
  }
}
