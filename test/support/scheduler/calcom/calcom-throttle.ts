import { MINUTE_MS } from "#contract/durations.ts";
import type { Reply } from "../local-server.ts";
import { toError } from "./calcom-error.ts";

/**
 * For tests: Cal.com's limit per key (throttler-guard.ts at 44ccc72f): 120 requests in a minute that begins with the first, then
 * a minute in which everything is refused. The headers are on every reply; there is no Retry-After.
 */
export class CalcomThrottle {
  readonly #requestsMax: number;
  #hits = 0;
  #endsAtMs = 0;
  #isBlocked = false;

  constructor(requestsMax = 120) {
    this.#requestsMax = requestsMax;
  }

  /** Null if the request is let through. */
  take(nowMs: number): { headers: Record<string, string>; refusal: Reply | null } {
    if (nowMs >= this.#endsAtMs) {
      this.#hits = 0;
      this.#isBlocked = false;
      this.#endsAtMs = nowMs + MINUTE_MS;
    }
    this.#hits++;
    if (!this.#isBlocked && this.#hits > this.#requestsMax) {
      this.#isBlocked = true;
      this.#endsAtMs = nowMs + MINUTE_MS;
    }
    const headers = {
      "X-RateLimit-Limit-Default": String(this.#requestsMax),
      "X-RateLimit-Remaining-Default": String(Math.max(0, this.#requestsMax - this.#hits)),
      "X-RateLimit-Reset-Default": String(Math.ceil((this.#endsAtMs - nowMs) / 1_000)),
    };
    const message = "CustomThrottlerGuard - Too many requests. Please try again later.";
    return { headers, refusal: this.#isBlocked ? toError(429, "ThrottlerException", message) : null };
  }
}
