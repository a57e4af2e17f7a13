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
  readonly #windowMs: number;
  #limit: number;
  #left: number;
  #endsAtMs = 0;

  constructor({ requests, windowMs }: { requests: number; windowMs: number }) {
    this.#windowMs = windowMs;
    this.#limit = requests;
    this.#left = requests;
  }

  /** Whether something may be read that is not needed for a booking. */
  allows(what: "first" | "renewal", now: Date): boolean {
    this.#renew(now);
    return this.#left > (this.#limit * (what === "first" ? 1 : 2)) / 3;
  }

  /** Counts a request that is about to be sent. If none is left, returns how long to wait; otherwise 0. */
  take(now: Date): number {
    this.#renew(now);
    if (this.#left <= 0) return this.#endsAtMs - now.getTime();
    this.#left--;
    return 0;
  }

  note({ limit, remaining, resetMs }: ToldLimit, now: Date): void {
    this.#renew(now);
    const endsAtMs = now.getTime() + Math.min(resetMs, this.#windowMs);
    // Responses within one window may arrive in any order.
    const isSameWindow = limit === this.#limit && endsAtMs <= this.#endsAtMs + SAME_WINDOW_MS;
    this.#limit = limit;
    this.#left = isSameWindow ? Math.min(this.#left, remaining) : remaining;
    this.#endsAtMs = endsAtMs;
  }

  /** The system refused a request and wants none for so long. */
  noteRefusal(waitMs: number, now: Date): void {
    this.note({ limit: this.#limit, remaining: 0, resetMs: waitMs }, now);
  }

  #renew(now: Date): void {
    const nowMs = now.getTime();
    // A clock that was set back must not keep the account waiting.
    if (nowMs < this.#endsAtMs && nowMs >= this.#endsAtMs - this.#windowMs) return;
    this.#left = this.#limit;
    this.#endsAtMs = nowMs + this.#windowMs;
  }
}

/**
 * Sends nothing beyond the budget, because a system that blocks an account answers none of its requests for a while. A request over
 * the budget gets the reply that the system would give. Only reads correct the budget: a system may count bookings separately.
 */
export function withBudget({ outbound, clock }: { outbound: Outbound; clock: Clock }, budget: RequestBudget): Outbound {
  return {
    send: async (request, signal) => {
      const waitMs = budget.take(clock.now());
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
      if (reply.toldLimit !== null && request.method === "GET") budget.note(reply.toldLimit, clock.now());
      if (reply.status === THROTTLED) budget.noteRefusal(reply.retryAfterMs ?? 0, clock.now());
      return reply;
    },
    close: () => outbound.close(),
  };
}
