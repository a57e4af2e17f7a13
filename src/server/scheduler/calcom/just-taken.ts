import type { Clock } from "../../lib/time/clock.ts";
import type { BookOutcome, Slot } from "../scheduling-system.ts";

/** Cal.com keeps its lists of available times for two seconds, and reading one takes up to eight. */
const LAG_MS = 10_000;

type Taken = { readonly hides: (slot: Slot) => boolean; readonly externalId: string | null; readonly atMs: number };

/** Times that turned out to be taken a moment ago, and may still be listed as available. */
export class JustTaken {
  readonly #clock: Clock;
  #taken: Taken[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  note(startAt: Date, outcome: BookOutcome): void {
    this.#dropOld();
    const atMs = this.#clock.now().getTime();
    if (outcome.kind === "booked") {
      const { externalId, startAt: bookedFrom, endAt: bookedTo } = outcome.booked;
      const hides = (slot: Slot) => slot.startAt < bookedTo && slot.endAt > bookedFrom;
      this.#taken.push({ hides, externalId, atMs });
    }
    if (outcome.kind === "slot_taken") {
      const hides = (slot: Slot) => slot.startAt.getTime() === startAt.getTime();
      this.#taken.push({ hides, externalId: null, atMs });
    }
  }

  /** It was cancelled. */
  free(externalId: string): void {
    this.#taken = this.#taken.filter((taken) => taken.externalId !== externalId);
  }

  without(slots: Slot[]): Slot[] {
    this.#dropOld();
    return slots.filter((slot) => !this.#taken.some(({ hides }) => hides(slot)));
  }

  #dropOld(): void {
    const nowMs = this.#clock.now().getTime();
    this.#taken = this.#taken.filter(({ atMs }) => Math.abs(nowMs - atMs) < LAG_MS);
  }
}
