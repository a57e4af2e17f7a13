import { findFirst } from "../lib/find-first.ts";
import {
  type SandboxService,
  type SandboxSetup,
  toCellKey,
  toCells,
  toOpenIntervals,
  toResources,
  toStartTimes,
} from "../scheduler/scheduler.ts";
import type { Dice } from "./dice.ts";

export type Appointment = { readonly service: SandboxService; readonly staffId: string; readonly startAt: Date };

/** How many slots after the wanted time a visitor considers: about a week. */
const TIMES_LOOKED_AT = 120;
/** A visitor picks one of the next few available times, not always the first. */
const CHOICE = 9;

/** The appointments of one widget while its history is generated. No member of staff is double-booked. */
export class ClinicCalendar {
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

  /** Takes a free slot of the service at or after `earliest`, with anyone if no `staffId` is given, or returns null. */
  take(dice: Dice, wish: { service: SandboxService; earliest: Date; staffId?: string }): Appointment | null {
    const { service } = wish;
    const [staffId, ...others] = service.staffIds;
    if (staffId === undefined) return null;
    const chosen = wish.staffId ?? dice.pick([staffId, ...others]);
    const times = this.#startTimes.get(`${service.id} ${chosen}`) ?? [];
    const earliestMs = wish.earliest.getTime();
    const first = findFirst(times, (startMs) => startMs >= earliestMs) + Math.floor(dice.roll() * CHOICE);
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
