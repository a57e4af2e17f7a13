import { REQUESTS_AT_ONCE_MAX } from "../queue/caps.ts";

/**
 * Leases that a worker holds at once: its requests in flight, and attempts that ended and wait for their report. Sending goes on
 * while PostgreSQL writes reports.
 */
const LEASES_MAX = 2 * REQUESTS_AT_ONCE_MAX;

/** Counts what a worker has claimed, and says how much more it may. */
export class Places {
  /** Claimed deliveries whose attempt is not reported yet. */
  #leases = 0;
  /** Those of them whose request has not ended. */
  #unended = 0;

  /** Deliveries that can be claimed now. */
  get free(): number {
    return Math.min(REQUESTS_AT_ONCE_MAX - this.#unended, LEASES_MAX - this.#leases);
  }

  addClaimed(count: number): void {
    this.#leases += count;
    this.#unended += count;
  }

  /** Claimed deliveries that this worker does not send. */
  removeClaimed(count: number): void {
    this.#leases -= count;
    this.#unended -= count;
  }

  endRequest(): void {
    this.#unended--;
  }

  /** The attempt is reported, or its lease has ended. */
  endLease(): void {
    this.#leases--;
  }
}
