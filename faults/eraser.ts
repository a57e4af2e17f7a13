import { setTimeout as sleep } from "node:timers/promises";
import type { OrganizationId, Reference } from "#contract/ids.ts";
import { deleteBooking } from "../src/server/bookings/stored/erase/erase.ts";
import type { ServiceDeps } from "../src/server/create-deps.ts";
import { isDatabaseUnavailable } from "../src/server/db/connections/database-unavailable.ts";
import type { Receiver } from "./receiver.ts";

// Deletes some of an organization's bookings while faults happen, one after the other. A booking that was delivered is stored, so
// it must be found, and once it is deleted it must stay deleted.

const PAUSE_MS = 700;

export class Eraser {
  readonly erased = new Set<string>();
  /** Outcomes that no fault excuses. */
  readonly wrong: string[] = [];
  readonly #deps: ServiceDeps;
  readonly #owner: OrganizationId;
  readonly #receiver: Receiver;
  #isRunning = false;
  #work: Promise<void> = Promise.resolve();

  constructor(deps: ServiceDeps, owner: OrganizationId, receiver: Receiver) {
    this.#deps = deps;
    this.#owner = owner;
    this.#receiver = receiver;
  }

  start(): void {
    this.#isRunning = true;
    this.#work = this.#eraseSome();
  }

  /** Resolves when the last booking is deleted. */
  async rest(): Promise<void> {
    this.#isRunning = false;
    await this.#work;
  }

  async #eraseSome(): Promise<void> {
    while (this.#isRunning) {
      await sleep(PAUSE_MS);
      const reference = this.#receiver.taken.keys().find((taken) => !this.erased.has(taken));
      if (reference !== undefined) await this.#erase(reference);
    }
  }

  /** If the outcome was lost, the booking may be gone the next time. */
  async #erase(reference: string): Promise<void> {
    let mayBeGone = false;
    for (;;) {
      try {
        const isDeleted = await deleteBooking(this.#deps, this.#owner, reference as Reference);
        if (!isDeleted && !mayBeGone) this.wrong.push(`${reference} was not found when it was to be deleted`);
        this.erased.add(reference);
        return;
      } catch (error) {
        if (!isDatabaseUnavailable(error)) this.wrong.push(`deleting a booking: ${error}`);
        mayBeGone = true;
        await sleep(PAUSE_MS);
      }
    }
  }
}
