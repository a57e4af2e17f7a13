import type { Clock } from "../lib/time/clock.ts";
import type { Outbound } from "./outbound.ts";

/** What a system says about its limit in the headers of a reply. */
export type ToldLimit = { readonly limit: number; readonly remaining: number; readonly resetMs: number };

const THROTTLED = 429;
/** Replies of one window name its end in whole seconds, so the ends differ a little. */
const SAME_WINDOW_MS = 2_000;

/**
 * The requests that an account may still send in the system's current window. A third is kept for bookings, look-ups and
 * cancellations; another third for times that nobody has asked for yet; the rest renews what is known. The window begins with its
 * first request. The headers of replies correct the count, because other processes and programs may use the same account.
 */
export class RequestBudget {
  readonly #clock: Clock;
  readonly #windowMs: number;
  #limit: number;
  #left: number;
  #endsAtMs = 0;

  constructor(clock: Clock, { requests, windowMs }: { requests: number; windowMs: number }) {
    this.#clock = clock;
    this.#windowMs = windowMs;
    this.#limit = requests;
    this.#left = requests;
  }

  /** Whether something may be read that is not needed for a booking. */
  allows(what: "first" | "renewal"): boolean {
    this.#renew();
    return this.#left > (this.#limit * (what === "first" ? 1 : 2)) / 3;
  }

  /** Counts a request that is about to be sent. If none is left, returns how long to wait; otherwise 0. */
  take(): number {
    const nowMs = this.#renew();
    if (this.#left <= 0) return this.#endsAtMs - nowMs;
    this.#left--;
    return 0;
  }

  note({ limit, remaining, resetMs }: ToldLimit): void {
    const endsAtMs = this.#renew() + Math.min(resetMs, this.#windowMs);
    // Responses within one window may arrive in any order.
    const isSameWindow = limit === this.#limit && endsAtMs <= this.#endsAtMs + SAME_WINDOW_MS;
    this.#limit = limit;
    this.#left = isSameWindow ? Math.min(this.#left, remaining) : remaining;
    this.#endsAtMs = endsAtMs;
  }

  /** The system refused a request and wants none for so long. */
  noteRefusal(waitMs: number): void {
    this.note({ limit: this.#limit, remaining: 0, resetMs: waitMs });
  }

  /** Returns the time now. */
  #renew(): number {
    const nowMs = this.#clock.now().getTime();
    // A clock that was set back must not keep the account waiting.
    if (nowMs >= this.#endsAtMs || nowMs < this.#endsAtMs - this.#windowMs) {
      this.#left = this.#limit;
      this.#endsAtMs = nowMs + this.#windowMs;
    }
    return nowMs;
  }
}

/**
 * Sends nothing beyond the budget, because a system that blocks an account answers none of its requests for a while. A request over
 * the budget gets the reply that the system would give. Only reads correct the budget: a system may count bookings separately.
 */
export function withBudget(outbound: Outbound, budget: RequestBudget): Outbound {
  return {
    send: async (request, signal) => {
      const waitMs = budget.take();
      if (waitMs > 0)
        return {
          kind: "reply",
          status: THROTTLED,
          json: undefined,
          retryAfterMs: waitMs,
          requestId: null,
          toldLimit: null,
        };
      const reply = await outbound.send(request, signal);
      if (reply.kind !== "reply") return reply;
      if (reply.toldLimit !== null && request.method === "GET") budget.note(reply.toldLimit);
      if (reply.status === THROTTLED) budget.noteRefusal(reply.retryAfterMs ?? 0);
      return reply;
    },
    close: () => outbound.close(),
  };
}
