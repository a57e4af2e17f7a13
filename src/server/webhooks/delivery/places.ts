import { REQUESTS_AT_ONCE_MAX } from "../queue/caps.ts";

/**
 * Deliveries claimed ahead, which wait for a request to end. No more than ended between the last two claims, so that they wait
 * about as long as a claim takes; if no request ends, none are claimed ahead.
 */
const AHEAD_MAX = REQUESTS_AT_ONCE_MAX / 2;
/**
 * Leases that a worker holds at once: its requests in flight, what it claimed ahead, and attempts that ended and wait for their
 * report. Sending goes on while PostgreSQL writes reports.
 */
const LEASES_MAX = 2 * REQUESTS_AT_ONCE_MAX + AHEAD_MAX;

/** Counts what a worker has claimed, and says how much more it may. */
export class Places {
  /** Claimed deliveries whose attempt is not reported yet. */
  #leases = 0;
  /** Those of them whose request has not ended, or has not begun. */
  #unsent = 0;
  #inFlight = 0;
  /** How many may be claimed ahead. */
  #ahead = 0;
  #endedSinceClaim = 0;

  /** Deliveries that can be claimed now. */
  get free(): number {
    return Math.max(0, Math.min(REQUESTS_AT_ONCE_MAX + this.#ahead - this.#unsent, LEASES_MAX - this.#leases));
  }

  get canSend(): boolean {
    return this.#inFlight < REQUESTS_AT_ONCE_MAX;
  }

  /** Returns how many deliveries this claim may take. */
  startClaim(): number {
    this.#ahead = Math.min(AHEAD_MAX, this.#endedSinceClaim);
    this.#endedSinceClaim = 0;
    return this.free;
  }

  addClaimed(count: number): void {
    this.#leases += count;
    this.#unsent += count;
  }

  /** Claimed deliveries that this worker does not send. */
  removeClaimed(count: number): void {
    this.#leases -= count;
    this.#unsent -= count;
  }

  beginRequest(): void {
    this.#inFlight++;
  }

  endRequest(): void {
    this.#inFlight--;
    this.#unsent--;
    this.#endedSinceClaim++;
  }

  /** The attempt is reported, or its lease has ended. */
  endLease(): void {
    this.#leases--;
  }
}
