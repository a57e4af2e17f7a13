import { DAY_MS, HOUR_MS, MINUTE_MS } from "#contract/durations.ts";
import type { CalendlyPlan } from "#contract/scheduling.ts";
import type { Clock } from "../../lib/time/clock.ts";

type Limit = { readonly max: number; readonly windowMs: number };

/** POST /invitees per user, by plan (developer.calendly.com, rate limits, since 15 April 2026). */
const LIMITS: Readonly<Record<CalendlyPlan, readonly Limit[]>> = {
  trial: [{ max: 5, windowMs: DAY_MS }],
  paid: [
    { max: 10, windowMs: MINUTE_MS },
    { max: 50, windowMs: HOUR_MS },
    { max: 100, windowMs: DAY_MS },
  ],
  enterprise: [{ max: 500, windowMs: MINUTE_MS }],
};

/** Counts the bookings that were sent to Calendly, so that none is sent beyond its limits. */
export class BookingQuota {
  readonly #clock: Clock;
  readonly #limits: readonly Limit[];
  readonly #kept: number;
  /** Ascending; as many as the largest limit. */
  #sentAtMs: number[] = [];

  constructor(clock: Clock, plan: CalendlyPlan) {
    this.#clock = clock;
    this.#limits = LIMITS[plan];
    this.#kept = Math.max(...this.#limits.map(({ max }) => max));
  }

  /** How long to wait before the next booking; 0 if it can be sent now. */
  findWaitMs(): number {
    const nowMs = this.#clock.now().getTime();
    const waits = this.#limits.map(({ max, windowMs }) => {
      // The booking that has to leave the window before the next one fits.
      const oldestMs = this.#sentAtMs.at(-max);
      return oldestMs === undefined ? 0 : Math.min(windowMs, oldestMs + windowMs - nowMs);
    });
    return Math.max(0, ...waits);
  }

  /** Call it before the request is sent. */
  add(): void {
    this.#sentAtMs = [...this.#sentAtMs, this.#clock.now().getTime()].slice(-this.#kept);
  }
}
