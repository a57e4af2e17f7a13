import { DAY_MS } from "#contract/durations.ts";
import { SLOT_RANGE_DAYS_MAX } from "#contract/scheduling.ts";
import { ID_LENGTH_MAX } from "./reply-limits.ts";
import {
  type Booked,
  refused,
  type SchedulingSystem,
  UNREADABLE,
  type UnlimitedSystem,
  unavailable,
} from "./scheduling-system.ts";

export type SchedulerLimits = {
  /** Services, slots and looking up a reference. */
  readonly readMs: number;
  readonly bookMs: number;
  readonly verifyMs: number;
};

export const SCHEDULER_LIMITS: SchedulerLimits = { readMs: 8_000, bookMs: 20_000, verifyMs: 15_000 };

const RANGE_MS_MAX = SLOT_RANGE_DAYS_MAX * DAY_MS;

function isAppointment({ startAt, endAt, externalId }: Pick<Booked, "startAt" | "endAt" | "externalId">): boolean {
  return startAt < endAt && externalId.length <= ID_LENGTH_MAX;
}

/** Makes every operation end when the caller's signal is aborted or, at the latest, when its limit is reached. */
export function limitSystem(system: UnlimitedSystem, limits: SchedulerLimits): SchedulingSystem {
  const within = (signal: AbortSignal | undefined, ms: number) =>
    AbortSignal.any([AbortSignal.timeout(ms), ...(signal ? [signal] : [])]);
  const { listChanged, subscriptions } = system;
  return {
    kind: system.kind,
    mode: system.mode,
    verify: (signal) => system.verify(within(signal, limits.verifyMs)),
    listServices: (signal) => system.listServices(within(signal, limits.readMs)),
    listSlots: async (query, signal) => {
      const rangeMs = query.to.getTime() - query.from.getTime();
      if (rangeMs <= 0 || rangeMs > RANGE_MS_MAX) return refused("invalid");
      return await system.listSlots(query, within(signal, limits.readMs));
    },
    book: async (request, signal) => {
      const outcome = await system.book(request, within(signal, limits.bookMs));
      const makesSense = outcome.kind !== "booked" || isAppointment(outcome.booked);
      return makesSense ? outcome : { kind: "unknown", upstream: UNREADABLE };
    },
    findByReference: async (sought, signal) => {
      const outcome = await system.findByReference(sought, within(signal, limits.readMs));
      return outcome.kind !== "found" || isAppointment(outcome.value) ? outcome : unavailable(UNREADABLE);
    },
    follow: async (appointment, signal) => {
      const read = await system.follow(appointment, within(signal, limits.readMs));
      const makesSense = read.kind !== "found" || read.value.kind === "cancelled" || isAppointment(read.value);
      return makesSense ? read : unavailable(UNREADABLE);
    },
    listChanged: listChanged && ((query, signal) => listChanged(query, within(signal, limits.verifyMs))),
    subscriptions: subscriptions && {
      create: (wanted, signal) => subscriptions.create(wanted, within(signal, limits.verifyMs)),
      check: (subscription, signal) => subscriptions.check(subscription, within(signal, limits.readMs)),
      remove: (id, signal) => subscriptions.remove(id, within(signal, limits.readMs)),
    },
    cancel: (appointment, signal) => system.cancel(appointment, within(signal, limits.bookMs)),
  };
}
