import { sql } from "kysely";
import type { Deps } from "../../deps.ts";

const VACUUM_AFTER = 5_000;

/** Each delivery leaves dead rows where claims look first, and autovacuum comes too late at thousands a second. */
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
