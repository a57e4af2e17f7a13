import { MINUTE_MS } from "#contract/durations.ts";
import { ApiError } from "../errors/api-error.ts";

// A fixed window per key, in memory. Each process counts for itself, so with n processes a key gets n times the limit.
// That is enough to stop runaway loops, and no request waits for another store.

export type RateLimitVerdict = { isAllowed: boolean; remaining: number; resetSeconds: number };

const WINDOW_MS = MINUTE_MS;
/** For addresses and names that strangers send: with more of them per minute, a limit for each protects nobody. */
const STRANGERS_MAX = 100_000;

/** Null if the setting is 0, which means no limit. */
export function limitByNetwork(perMinute: number): RateLimiter | null {
  return perMinute > 0 ? new RateLimiter({ perMinute, keysMax: STRANGERS_MAX }) : null;
}

export function rateLimited(verdict: RateLimitVerdict, message: string): ApiError {
  return new ApiError("rate_limited", message, { "retry-after": String(verdict.resetSeconds) });
}

/** From half of a shared limit on, each network gets only this part of it. */
const NETWORK_PART = 1 / 30;

/** A limit that networks share. The second half is kept for those that have used little, so a few can't use it up. */
export class SharedLimiter {
  readonly #whole: RateLimiter;
  readonly #half: number;
  /** Counts requests by shared key and network. */
  readonly #parts: RateLimiter;

  constructor({ perMinute }: { perMinute: number }) {
    this.#whole = new RateLimiter({ perMinute, keysMax: STRANGERS_MAX });
    this.#half = perMinute / 2;
    this.#parts = new RateLimiter({ perMinute: Math.max(1, perMinute * NETWORK_PART), keysMax: STRANGERS_MAX });
  }

  take({ key, network }: { key: string; network: string }, now: Date): RateLimitVerdict {
    const part = this.#parts.take(`${key} ${network}`, now);
    return !part.isAllowed && this.#whole.count(key, now) >= this.#half ? part : this.#whole.take(key, now);
  }
}

export class RateLimiter {
  readonly #limit: number;
  readonly #keysMax: number;
  #windowStart = 0;
  #counts = new Map<string, number>();

  /** Keys beyond `keysMax` in one window are not counted, so that made-up keys cannot fill the memory. */
  constructor(options: { perMinute: number; keysMax?: number }) {
    this.#limit = options.perMinute;
    this.#keysMax = options.keysMax ?? Number.POSITIVE_INFINITY;
  }

  take(key: string, now: Date): RateLimitVerdict {
    const count = this.count(key, now) + 1;
    if (count > 1 || this.#counts.size < this.#keysMax) this.#counts.set(key, count);
    return {
      isAllowed: count <= this.#limit,
      remaining: Math.max(0, this.#limit - count),
      resetSeconds: Math.ceil((this.#windowStart + WINDOW_MS - now.getTime()) / 1000),
    };
  }

  /** All keys share one window, so forgetting old counts takes one new Map per minute and nothing per key. */
  count(key: string, now: Date): number {
    const windowStart = now.getTime() - (now.getTime() % WINDOW_MS);
    if (windowStart !== this.#windowStart) {
      this.#windowStart = windowStart;
      this.#counts = new Map();
    }
    return this.#counts.get(key) ?? 0;
  }

  /** The fields of the IETF draft "RateLimit header fields for HTTP". */
  headers(verdict: RateLimitVerdict): Record<string, string> {
    return {
      "ratelimit-policy": `"default";q=${this.#limit};w=${WINDOW_MS / 1000}`,
      ratelimit: `"default";r=${verdict.remaining};t=${verdict.resetSeconds}`,
    };
  }
}
