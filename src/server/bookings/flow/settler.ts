import { SECOND_MS } from "#contract/durations.ts";
import { isDatabaseUnavailable } from "../../db/connections/database-unavailable.ts";
import { repeat } from "../../lib/concurrency/pause.ts";
import {
  type BookingToSettle,
  type ConfirmedBooking,
  type FailedBooking,
  leaveToTask,
  type SettleDeps,
  settleConfirmed,
  settleFailed,
  withdraw,
} from "./settle-booking.ts";

// Settles the bookings of this process. What cannot be settled because the database is down stays in memory and is tried
// again every second. If this process ends first, the task in settle-overdue.ts settles the booking.

const RETRY_MS = SECOND_MS;
/** About 10 MB. Bookings beyond it wait for the task. */
const WAITING_MAX = 10_000;
const AT_ONCE = 8;
/** A booking that fails this often while the database answers is left to the task, which logs it. */
const TRIES_MAX = 5;

type Unsettled = {
  readonly booking: Omit<BookingToSettle, "hit">;
  readonly settle: () => Promise<void>;
  tries: number;
};

export class Settler {
  readonly #deps: SettleDeps;
  readonly #stopping = new AbortController();
  readonly #retrying: Promise<void>;
  #waiting: Unsettled[] = [];

  constructor(deps: SettleDeps) {
    this.#deps = deps;
    this.#retrying = repeat({ periodMs: RETRY_MS, signal: this.#stopping.signal }, () => this.#retryAll());
  }

  /** Resolves even if the booking could not be settled yet: the visitor gets the scheduling system's reply. */
  async confirm(booking: ConfirmedBooking): Promise<void> {
    await this.#settle(booking, () => settleConfirmed(this.#deps, booking));
  }

  /** Resolves even if the booking could not be settled yet. */
  async fail(booking: FailedBooking): Promise<void> {
    await this.#settle(booking, () => settleFailed(this.#deps, booking));
  }

  /** Leaves a booking whose outcome is uncertain to the task. Resolves even if that could not be written yet. */
  async leave(booking: BookingToSettle): Promise<void> {
    await this.#settle(booking, () => leaveToTask(this.#deps, booking));
  }

  /** Forgets a request that never got as far as the scheduling system, once the database is back. */
  withdraw(request: Omit<BookingToSettle, "hit">): void {
    this.#keep({ booking: request, settle: () => withdraw(this.#deps, request), tries: 0 });
  }

  /** Tries everything once more. */
  async close(): Promise<void> {
    this.#stopping.abort();
    await this.#retrying;
    await this.#retryAll();
  }

  async #settle(booking: BookingToSettle, settle: () => Promise<void>): Promise<void> {
    try {
      await settle();
    } catch (error) {
      const { owner: organizationId, widgetId } = booking;
      this.#deps.log.error("booking.settle_failed", { organizationId, widgetId, error });
      this.#keep({ booking, settle, tries: 1 });
    }
  }

  /** If the list is full, or settling fails too often, the task for overdue bookings settles it. */
  #keep(unsettled: Unsettled): void {
    if (this.#waiting.length < WAITING_MAX) this.#waiting.push(unsettled);
  }

  async #retryAll(): Promise<void> {
    const waiting = this.#waiting;
    this.#waiting = [];
    let isUnavailable = false;
    while (waiting.length > 0 && !isUnavailable) {
      const batch = waiting.splice(0, AT_ONCE);
      const outcomes = await Promise.all(batch.map((unsettled) => this.#retry(unsettled)));
      isUnavailable = outcomes.includes("unavailable");
      this.#waiting.push(...batch.filter(({ tries }, i) => outcomes[i] !== "settled" && tries < TRIES_MAX));
    }
    this.#waiting.push(...waiting);
  }

  async #retry(unsettled: Unsettled): Promise<"settled" | "unavailable" | "failed"> {
    const { owner: organizationId, widgetId } = unsettled.booking;
    try {
      await unsettled.settle();
      this.#deps.log.info("booking.settled_late", { organizationId, widgetId });
      return "settled";
    } catch (error) {
      if (isDatabaseUnavailable(error)) return "unavailable";
      unsettled.tries += 1;
      this.#deps.log.error("booking.settle_failed", { organizationId, widgetId, error });
      return "failed";
    }
  }
}
