import { sql } from "kysely";
import type { Deps } from "../../deps.ts";

/** Attempts after which the queue is vacuumed. */
const VACUUM_AFTER = 5_000;

/**
 * Every delivery leaves dead rows and index entries at the front of its lane, where claims look first. Autovacuum comes once a
 * minute, which is too late at thousands of deliveries a second: claims get slower in between.
 */
export class QueueVacuum {
  readonly #deps: Pick<Deps, "patientDb" | "log">;
  #finished = 0;
  #running: Promise<void> | null = null;

  constructor(deps: Pick<Deps, "patientDb" | "log">) {
    this.#deps = deps;
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
    try {
      await sql`vacuum (skip_locked, truncate false) delivery_queue`.execute(this.#deps.patientDb);
    } catch (error) {
      this.#deps.log.warn("deliveries.vacuum_failed", { error });
    }
  }
}
