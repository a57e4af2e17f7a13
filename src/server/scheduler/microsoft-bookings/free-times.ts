import { MINUTE_MS } from "#contract/durations.ts";
import type { Slot, SlotQuery } from "../scheduling-system.ts";
import {
  covers,
  type Interval,
  intersect,
  subtract,
  toDayRange,
  toOpenIntervals,
  toStartTimes,
} from "../weekly-hours.ts";
import type { Availability, Catalog, GraphService, ServiceHours } from "./catalog.ts";
import { toEnd, toMinutes, toStart } from "./graph-time.ts";
import type { Appointment, StaffAvailability, Times } from "./shapes.ts";

// Pure. Graph tells when each member of staff is available, not which times can be booked; those are worked out here.
//
// - Start times lie on the policy's grid, counted from each opening. The hours of the business apply, because availability
//   reaches beyond them (microsoft-graph-docs 20554), and within them the hours of the service's scheduling policy.
// - The appointment and its buffers must fit into one stretch in which someone is available.
// - Appointments in the calendar are taken, because availability has been seen to report taken time as free (18796,
//   msgraph-sdk-dotnet 1455).
// - A time of a service for groups stays free until its seats are taken. Every visitor gets an appointment of their own.
// - Nothing is offered before the lead time or beyond the maximum advance.

const ANY_TIME = [1, 2, 3, 4, 5, 6, 7].map((weekday) => ({ weekday, opens: "00:00", closes: "00:00" }));

type OpenRange = { from: Date; to: Date; timeZone: string };

/** Available times with everyone who is free, whether or not visitors can choose. */
export function toFreeTimes(
  catalog: Pick<Catalog, "hours" | "timeZone">,
  service: GraphService,
  query: SlotQuery & {
    now: Date;
    timeByStaff: ReadonlyMap<string, StaffTime>;
  },
): Slot[] {
  const { durationMinutes } = service.offered;
  const range = { ...query, timeZone: catalog.timeZone ?? "UTC" };
  const open = toServiceOpen(toOpenIntervals(catalog.hours ?? ANY_TIME, range), service.availability, range);
  const nowMs = query.now.getTime();
  const earliestMs = Math.max(query.from.getTime(), nowMs + service.leadMinutes * MINUTE_MS);
  const endMs = Math.min(query.to.getTime(), nowMs + service.advanceMinutes * MINUTE_MS);
  return toStartTimes(open, { stepMinutes: service.stepMinutes, durationMinutes }).flatMap((startMs) => {
    if (startMs < earliestMs || startMs >= endMs || startMs <= nowMs) return [];
    const end = startMs + durationMinutes * MINUTE_MS;
    const needed = {
      startMs: startMs - service.preBufferMinutes * MINUTE_MS,
      endMs: end + service.postBufferMinutes * MINUTE_MS,
    };
    const staffIds = service.staffIds.filter((id) => {
      const time = query.timeByStaff.get(id);
      if ((query.staffId ?? id) !== id || time === undefined) return false;
      return covers(time.free, needed) || time.joinableStarts.has(startMs);
    });
    return staffIds.length === 0 ? [] : [{ startAt: new Date(startMs), endAt: new Date(end), staffIds }];
  });
}

/** The hours of the business, narrowed to those of the service: each window replaces what came before it on its days. */
function toServiceOpen(
  business: readonly Interval[],
  { general, windows }: Availability,
  range: OpenRange,
): Interval[] {
  let open = toHoursWithin(business, general, range);
  for (const { firstDay, lastDay, hours } of windows) {
    const days = toDayRange({ first: firstDay, last: lastDay, timeZone: range.timeZone });
    if (days === null || days.endMs <= range.from.getTime() || days.startMs >= range.to.getTime()) continue;
    const outside = open.flatMap((interval) => subtract([interval], [days]));
    open = [...outside, ...toHoursWithin(intersect(business, [days]), hours, range)];
  }
  return open;
}

function toHoursWithin(business: readonly Interval[], hours: ServiceHours, range: OpenRange): Interval[] {
  return hours === "always" ? [...business] : intersect(business, toOpenIntervals(hours, range));
}

/** The range for which availability must be known. */
export function toNeededRange(service: GraphService, query: { from: Date; to: Date }): { from: Date; to: Date } {
  const afterMinutes = service.offered.durationMinutes + service.postBufferMinutes;
  return widen(query, { beforeMinutes: service.preBufferMinutes, afterMinutes });
}

/** The range in which appointments matter: the buffer of one outside the needed range can reach into it. */
export function toCalendarRange({ services }: Pick<Catalog, "services">, needed: { from: Date; to: Date }) {
  const longest = Math.max(0, ...services.flatMap((each) => [each.preBufferMinutes, each.postBufferMinutes]));
  return widen(needed, { beforeMinutes: longest, afterMinutes: longest });
}

function widen(
  { from, to }: { from: Date; to: Date },
  { beforeMinutes, afterMinutes }: { beforeMinutes: number; afterMinutes: number },
): { from: Date; to: Date } {
  return {
    from: new Date(from.getTime() - beforeMinutes * MINUTE_MS),
    to: new Date(to.getTime() + afterMinutes * MINUTE_MS),
  };
}

/** The time of one member of staff, for one service. */
type StaffTime = {
  /** Merged. */
  readonly free: readonly Interval[];
  /** When an appointment for a group begins that has seats left. */
  readonly joinableStarts: ReadonlySet<number>;
};

/** By member of staff. Null when a time cannot be understood: offering a wrong time is worse than none. */
export function toTimeByStaff(
  catalog: Pick<Catalog, "services">,
  service: GraphService,
  { availability, appointments }: { availability: StaffAvailability; appointments: readonly Appointment[] },
): Map<string, StaffTime> | null {
  const taken = appointments.map((appointment) => ({ appointment, interval: toTaken(appointment) }));
  const times = new Map<string, StaffTime>();
  for (const [staffId, items] of Map.groupBy(availability, (each) => each.staffId)) {
    if (!staffId) continue;
    const open: Interval[] = [];
    const closed: Interval[] = [];
    const groups: Group[] = [];
    for (const item of items.flatMap(({ availabilityItems }) => availabilityItems ?? [])) {
      const interval = toInterval(item);
      if (interval === null) return null;
      (isFree(item, service.offered.id) ? open : closed).push(interval);
    }
    for (const { appointment, interval } of taken) {
      if (!mayHaveStaff(catalog, appointment, staffId)) continue;
      if (interval === null) return null;
      if (isGroup(appointment, service)) groups.push({ ...interval, appointment });
      else closed.push(interval);
    }
    const besideGroups = subtract(open, closed);
    const joinable = findJoinable(groups, service.seatCount).filter((interval) => covers(besideGroups, interval));
    const joinableStarts = new Set(joinable.map(({ beginsMs }) => beginsMs));
    times.set(staffId, { free: subtract(besideGroups, groups), joinableStarts });
  }
  return times;
}

type Group = Interval & { readonly appointment: Appointment };

/** The times at which all groups begin together, have seats left, and don't overlap groups that begin at another time. */
function findJoinable(groups: readonly Group[], seatCount: number): (Interval & { beginsMs: number })[] {
  const byBegin = [...Map.groupBy(groups, ({ appointment }) => toStart(appointment)?.getTime() ?? 0)];
  const times = byBegin
    .map(([beginsMs, together]) => ({
      beginsMs,
      startMs: Math.min(...together.map(({ startMs }) => startMs)),
      endMs: Math.max(...together.map(({ endMs }) => endMs)),
      seatsTaken: countSeats(together.map(({ appointment }) => appointment)),
    }))
    .sort((a, b) => a.startMs - b.startMs);
  let endedMs = 0;
  return times.filter(({ startMs, endMs, seatsTaken }, index) => {
    const isAlone = endedMs <= startMs && endMs <= (times[index + 1]?.startMs ?? endMs);
    endedMs = Math.max(endedMs, endMs);
    return isAlone && seatsTaken < seatCount;
  });
}

/** Whether more people can book the same time. */
export function isGroup(appointment: Appointment, { offered, seatCount }: GraphService): boolean {
  return seatCount > 1 && appointment.serviceId === offered.id;
}

/** An appointment in a list may lack the number of its customers; it has at least one. */
export function countSeats(appointments: readonly Appointment[]): number {
  return appointments.reduce((sum, { filledAttendeesCount }) => sum + Math.max(filledAttendeesCount ?? 1, 1), 0);
}

/** An appointment without staff can be anyone's who offers its service. */
export function mayHaveStaff(
  { services }: Pick<Catalog, "services">,
  { staffMemberIds, serviceId }: Appointment,
  staffId: string,
): boolean {
  if (staffMemberIds?.length) return staffMemberIds.includes(staffId);
  const service = services.find(({ offered }) => offered.id === serviceId);
  return service === undefined || service.staffIds.includes(staffId);
}

/** `slotsAvailable` is a group appointment of one service with places left. The words' case varies. */
function isFree(item: { status?: string | null; serviceId?: string | null }, serviceId: string): boolean {
  const status = item.status?.toLowerCase();
  return status === "available" || (status === "slotsavailable" && item.serviceId === serviceId);
}

/** Including its buffers. */
export function toTaken(appointment: Appointment): Interval | null {
  const interval = toInterval(appointment);
  if (interval === null) return null;
  return {
    startMs: interval.startMs - (toMinutes(appointment.preBuffer) ?? 0) * MINUTE_MS,
    endMs: interval.endMs + (toMinutes(appointment.postBuffer) ?? 0) * MINUTE_MS,
  };
}

function toInterval(times: Times): Interval | null {
  const [startAt, endAt] = [toStart(times), toEnd(times)];
  return startAt && endAt ? { startMs: startAt.getTime(), endMs: endAt.getTime() } : null;
}
