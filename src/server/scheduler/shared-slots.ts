import { DAY_MS, MINUTE_MS } from "#contract/durations.ts";
import { SLOT_RANGE_DAYS_MAX } from "#contract/scheduling.ts";
import { RecentMap } from "../lib/recent-map.ts";
import type { Clock } from "../lib/time/clock.ts";
import { createKeptRead, type KeptRead } from "./kept-read.ts";
import type { RequestBudget } from "./request-budget.ts";
import {
  type Failure,
  found,
  overLimit,
  type Read,
  type SchedulingSystem,
  type Slot,
  type SlotQuery,
} from "./scheduling-system.ts";

// Visitors share what a scheduling system says about available times, because it allows an account only so many requests (Cal.com: 120
// a minute). Available times are read for whole days in UTC, once for everyone who waits, and kept for some seconds. While requests
// are short, older times are shown: a time that was taken meanwhile is refused when it is booked. A booking outdates the times of
// its service at once.

const KEPT_MS = 10_000;
const OLDER_MS = 10 * MINUTE_MS;
const TIMEOUT_MS = 8_000;
/** Ranges in memory, of all connections together. A month of half hours takes about 60 KB. */
const RANGES_MAX = 300;
const SERVICES_MAX = 1_000;
const NO_SIGNAL = new AbortController().signal;

/** `bookings`: how many bookings of the service this process had seen when it asked. */
type KnownSlots = { readonly slots: readonly Slot[]; readonly bookings: number };

export class SlotMemory {
  readonly ranges = new RecentMap<string, KeptRead<KnownSlots>>(RANGES_MAX);
}

type ShareDeps = { readonly clock: Clock; readonly budget: RequestBudget; readonly memory: SlotMemory };

/** `key` names the connection and its version. */
export function shareSlots(deps: ShareDeps, system: SchedulingSystem, key: string): SchedulingSystem {
  const bookings = new RecentMap<string, number>(SERVICES_MAX);

  const readRange = async (query: SlotQuery, range: Range, signal: AbortSignal): Promise<Read<KnownSlots>> => {
    const { serviceId, staffId, mayAsk } = query;
    const rangeKey = JSON.stringify([key, serviceId, staffId, range.from, range.to]);
    const known = deps.memory.ranges.get(rangeKey);
    const kept =
      known ??
      createKeptRead<KnownSlots>(deps, {
        timeoutMs: TIMEOUT_MS,
        toKeptMs: () => KEPT_MS,
        olderMs: OLDER_MS,
        isCurrent: (value) => value.bookings === (bookings.get(serviceId) ?? 0),
        load: async (loadSignal) => {
          const seen = bookings.get(serviceId) ?? 0;
          const slots = await system.listSlots({ serviceId, staffId, ...range }, loadSignal);
          return slots.kind === "found" ? found({ slots: slots.value, bookings: seen }) : slots;
        },
      });
    return await kept.get(signal, (isKnown) => {
      const refusal = findRefusal(deps, isKnown, mayAsk);
      if (refusal === null && known === undefined) deps.memory.ranges.set(rangeKey, kept);
      return refusal;
    });
  };

  const { listChanged } = system;
  /** What is not needed for a booking waits while requests are short. */
  const isShort = () => !deps.budget.allows("renewal");
  return {
    ...system,
    follow: async (appointment, signal) =>
      isShort() ? overLimit("account") : await system.follow(appointment, signal),
    listChanged:
      listChanged && (async (query, signal) => (isShort() ? overLimit("account") : await listChanged(query, signal))),
    listSlots: async (query, signal = NO_SIGNAL) => {
      // What the system would refuse without a request takes no place in the memory.
      if (!(await isAskable(system, query, signal))) return await system.listSlots(query, signal);
      const slots: Slot[] = [];
      for (const range of toWholeDays(query)) {
        const read = await readRange(query, range, signal);
        if (read.kind !== "found") return read;
        for (const slot of read.value.slots) slots.push(slot);
      }
      const now = deps.clock.now();
      return found(slots.filter(({ startAt }) => startAt >= query.from && startAt < query.to && startAt > now));
    },
    book: async (request, signal) => {
      const outcome = await system.book(request, signal);
      bookings.set(request.serviceId, (bookings.get(request.serviceId) ?? 0) + 1);
      return outcome;
    },
  };
}

/** The account's budget first, so that a visitor's network isn't charged for a request that would not be sent. */
function findRefusal({ budget }: ShareDeps, isKnown: boolean, mayAsk: SlotQuery["mayAsk"]): Failure | null {
  if (!budget.allows(isKnown ? "renewal" : "first")) return overLimit("account");
  return (mayAsk?.() ?? true) ? null : overLimit("visitor");
}

async function isAskable(
  system: SchedulingSystem,
  { serviceId, staffId, from, to }: SlotQuery,
  signal: AbortSignal,
): Promise<boolean> {
  const rangeMs = to.getTime() - from.getTime();
  if (rangeMs <= 0 || rangeMs > RANGE_MS_MAX) return false;
  const services = await system.listServices(signal);
  if (services.kind !== "found") return false;
  const service = services.value.find(({ id }) => id === serviceId);
  return service !== undefined && (staffId === null || service.staff.some(({ id }) => id === staffId));
}

type Range = { readonly from: Date; readonly to: Date };

const RANGE_MS_MAX = SLOT_RANGE_DAYS_MAX * DAY_MS;

/** Visitors ask from the current moment on; all of a day's visitors share whole days. One range has at most 31. */
function toWholeDays({ from, to }: Range): Range[] {
  const startMs = Math.floor(from.getTime() / DAY_MS) * DAY_MS;
  const endMs = Math.ceil(to.getTime() / DAY_MS) * DAY_MS;
  const splitMs = Math.min(startMs + RANGE_MS_MAX, endMs);
  const ranges = [{ from: new Date(startMs), to: new Date(splitMs) }];
  return splitMs < endMs ? [...ranges, { from: new Date(splitMs), to: new Date(endMs) }] : ranges;
}
