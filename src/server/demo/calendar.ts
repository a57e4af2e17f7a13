import { toCellKey, toCells, toResources } from "../scheduler/sandbox/free-times.ts";
import type { SandboxService, SandboxSetup } from "../scheduler/sandbox/setup.ts";
import { toOpenIntervals, toStartTimes } from "../scheduler/weekly-hours.ts";
import type { Dice } from "./dice.ts";

export type Appointment = { readonly service: SandboxService; readonly staffId: string; readonly startAt: Date };

/** So many times after the wished one are looked at, about a week of them; then the visitor finds none. */
const TIMES_LOOKED_AT = 120;
/** A visitor takes one of so many, not always the first. */
const CHOICE = 9;

/** The appointments of one widget while its history is made up: nobody is booked twice at a time. */
export class PracticeCalendar {
  readonly #setup: SandboxSetup;
  readonly #taken = new Set<string>();
  readonly #startTimes: ReadonlyMap<string, readonly number[]>;

  constructor(setup: SandboxSetup, range: { timeZone: string; from: Date; to: Date }) {
    this.#setup = setup;
    this.#startTimes = new Map(
      setup.services.flatMap((service) =>
        setup.staff.map((member) => {
          const open = toOpenIntervals(member.hours, range);
          const times = toStartTimes(open, { ...service, stepMinutes: setup.stepMinutes });
          return [`${service.id} ${member.id}`, times] as const;
        }),
      ),
    );
  }

  /** A free time of the service from `earliest` on, taken from now on; null where there is none. */
  take(dice: Dice, wish: { service: SandboxService; earliest: Date }): Appointment | null {
    const { service } = wish;
    const [staffId, ...others] = service.staffIds;
    if (staffId === undefined) return null;
    const chosen = dice.pick([staffId, ...others]);
    const times = this.#startTimes.get(`${service.id} ${chosen}`) ?? [];
    const first = findFirst(times, wish.earliest.getTime()) + Math.floor(dice.roll() * CHOICE);
    for (const startMs of times.slice(first, first + TIMES_LOOKED_AT)) {
      const appointment = { service, staffId: chosen, startAt: new Date(startMs) };
      const keys = toKeys(appointment);
      if (keys.some((key) => this.#taken.has(key))) continue;
      for (const key of keys) this.#taken.add(key);
      return appointment;
    }
    return null;
  }

  get setup(): SandboxSetup {
    return this.#setup;
  }
}

function toKeys({ service, staffId, startAt }: Appointment): string[] {
  const resources = toResources({ service, staffId });
  return toCells(service, startAt).flatMap((cell) => resources.map((resource) => toCellKey(resource, cell)));
}

/** The place of the first time that is not before the given one; times are in their order. */
function findFirst(times: readonly number[], earliestMs: number): number {
  let [low, high] = [0, times.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((times[middle] ?? 0) < earliestMs) low = middle + 1;
    else high = middle;
  }
  return low;
}
