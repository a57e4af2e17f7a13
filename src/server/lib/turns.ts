import { setImmediate } from "node:timers/promises";

/** Under load, one turn of the event loop serves many requests, so they hardly notice a slice of this length. */
const SLICE_MS = 1;

/** Splits long work into slices. Between two of them, everything else that waits gets its turn. */
export class Turns {
  #startedAt = performance.now();

  /** To be called after each small piece of the work. */
  async give(): Promise<void> {
    if (performance.now() - this.#startedAt < SLICE_MS) return;
    await setImmediate();
    this.#startedAt = performance.now();
  }
}
