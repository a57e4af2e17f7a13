import type { Log } from "./log.ts";

/** Logs when something stops working and when it works again, instead of once per request. */
export class OutageLog {
  readonly #log: Log;
  readonly #names: { failed: string; resumed: string };
  #isOut = false;

  constructor(log: Log, names: { failed: string; resumed: string }) {
    this.#log = log;
    this.#names = names;
  }

  failed(error: unknown): void {
    if (!this.#isOut) this.#log.warn(this.#names.failed, { error });
    this.#isOut = true;
  }

  worked(): void {
    if (this.#isOut) this.#log.info(this.#names.resumed);
    this.#isOut = false;
  }
}
