import { MINUTE_MS } from "#contract/durations.ts";
import { covers, type Interval, intersect, merge, subtract } from "../intervals.ts";
import type { Slot, SlotQuery } from "../scheduling-system.ts";
import { toDayRange, toOpenIntervals, toStartTimes } from "../weekly-hours.ts";
import type { Availability, Catalog, GraphService, ServiceHours } from "./catalog.ts";
import { toInstant, toMinutes } from "./graph-time.ts";
import type { Appointment, StaffAvailability } from "./shapes.ts";

// Pure. Graph tells when each member of staff is available, not which times can be booked; those are worked out here.
//
// - Start times lie on the policy's grid, counted from each opening. The hours of the business apply, because availability
//   reaches beyond them (microsoft-graph-docs 20554), and within them the hours of the service's scheduling policy.
// - The appointment and its buffers must fit into one stretch in which someone is available.
// - Appointments in the calendar are taken, because availability has been seen to report taken time as free (18796,
//   msgraph-sdk-dotnet 1455).
// - Nothing is offered before the lead time or beyond the maximum advance.

const ANY_TIME = [1, 2, 3, 4, 5, 6, 7].map((weekday) => ({ weekday, opens: "00:00", closes: "00:00" }));

type OpenRange = { from: Date; to: Date; timeZone: string };

/** Free times with everyone who is free, whether or not visitors can choose. */
export function toFreeTimes(
  catalog: Pick<Catalog, "hours" | "timeZone">,
  service: GraphService,
  query: SlotQuery & {
    now: Date;
    freeByStaff: ReadonlyMap<string, readonly Interval[]>;
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
    const staffIds = service.staffIds.filter(
      (id) => (query.staffId ?? id) === id && covers(query.freeByStaff.get(id) ?? [], needed),
    );
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
  return {
    from: new Date(query.from.getTime() - service.preBufferMinutes * MINUTE_MS),
    to: new Date(query.to.getTime() + afterMinutes * MINUTE_MS),
  };
}

/** Merged free time by member of staff. Null when a time cannot be understood: offering a wrong time is worse than none. */
export function toFreeByStaff(
  availability: StaffAvailability,
  appointments: readonly Appointment[],
  serviceId: string,
): Map<string, Interval[]> | null {
  const taken = appointments.map((appointment) => ({ appointment, interval: toTaken(appointment) }));
  const free = new Map<string, Interval[]>();
  for (const { staffId, availabilityItems } of availability) {
    if (!staffId) continue;
    const items = (availabilityItems ?? []).map((item) => ({
      isFree: isFree(item, serviceId),
      interval: toInterval(item.startDateTime, item.endDateTime),
    }));
    const theirs = taken.filter(({ appointment }) => (appointment.staffMemberIds ?? [staffId]).includes(staffId));
    const open: Interval[] = [];
    const closed: Interval[] = [];
    for (const { interval } of theirs) {
      if (interval === null) return null;
      closed.push(interval);
    }
    for (const item of items) {
      if (item.interval === null) return null;
      (item.isFree ? open : closed).push(item.interval);
    }
    free.set(staffId, subtract(merge([...(free.get(staffId) ?? []), ...open]), closed));
  }
  return free;
}

/** `slotsAvailable` is a group appointment of one service with places left. The words' case varies. */
function isFree(item: { status?: string | null; serviceId?: string | null }, serviceId: string): boolean {
  const status = item.status?.toLowerCase();
  return status === "available" || (status === "slotsavailable" && item.serviceId === serviceId);
}

function toTaken(appointment: Appointment): Interval | null {
  const interval = toInterval(appointment.startDateTime, appointment.endDateTime);
  if (interval === null) return null;
  return {
    startMs: interval.startMs - (toMinutes(appointment.preBuffer) ?? 0) * MINUTE_MS,
    endMs: interval.endMs + (toMinutes(appointment.postBuffer) ?? 0) * MINUTE_MS,
  };
}

function toInterval(start: Appointment["startDateTime"], end: Appointment["endDateTime"]): Interval | null {
  const [startAt, endAt] = [toInstant(start), toInstant(end)];
  return startAt && endAt ? { startMs: startAt.getTime(), endMs: endAt.getTime() } : null;
}
