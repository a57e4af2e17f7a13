import { DAY_MS, HOUR_MS } from "#contract/durations.ts";
import type { Clock } from "../../lib/time/clock.ts";
import type { AccountLimits } from "../account-limits.ts";
import type { MicrosoftBookingsParts } from "../connections/connection-settings.ts";
import { createKeptCatalog, warnOfMany } from "../kept-read.ts";
import type { Outbound } from "../outbound.ts";
import { isFailure, readReply } from "../read-reply.ts";
import type { RequestBudget } from "../request-budget.ts";
import {
  type FindOutcome,
  found,
  type Lookup,
  type Read,
  type Slot,
  type SlotQuery,
  UNREADABLE,
  type UnlimitedSystem,
  unavailable,
  type Verified,
} from "../scheduling-system.ts";
import { bookAppointment, cancelAppointment, toCreatedMs } from "./book.ts";
import { type Catalog, type GraphService, readCatalog } from "./catalog.ts";
import { followAppointment, listDifferent, toBooked, toCalendarPath } from "./follow.ts";
import { toCalendarRange, toFreeTimes, toNeededRange, toTimeByStaff } from "./free-times.ts";
import { createGraph, type Graph } from "./graph.ts";
import { toGraphMinute, toStart } from "./graph-time.ts";
import { type Appointment, shapes } from "./shapes.ts";

// Microsoft Bookings through Microsoft Graph v1.0, with application permissions (Bookings.Read.All and
// BookingsAppointment.ReadWrite.All), which cover every booking business of the tenant.

/** Appointments of one service that start at the same time; each is read individually. */
const CANDIDATES_MAX = 20;

export function createMicrosoftBookings(
  deps: { outbound: Outbound; clock: Clock; accountLimits: AccountLimits; budget: RequestBudget },
  parts: MicrosoftBookingsParts,
): UnlimitedSystem {
  const graph = createGraph(deps, parts);
  const catalog = createKeptCatalog<Catalog>(deps, (signal) => readCatalog(graph, signal));

  const findByReference = async (lookup: Lookup, signal: AbortSignal): Promise<FindOutcome> => {
    const known = await catalog.get(signal);
    if (known.kind !== "found") return known;
    const appointment = await findAppointment(graph, lookup, signal);
    if (appointment.kind !== "found") return appointment;
    if (appointment.value === null) return { kind: "absent" };
    return found(toBooked(known.value, appointment.value, lookup));
  };

  return {
    kind: "microsoft-bookings",
    mode: "live",
    verify: async (signal) => {
      const fresh = await catalog.refresh(signal);
      return fresh.kind === "found" ? await verify({ graph, clock: deps.clock }, fresh.value, signal) : fresh;
    },
    listServices: catalog.listServices,
    listSlots: async (query, signal) => {
      const known = await catalog.findService(query, signal);
      if (known.kind !== "found") return known;
      const slots = await readSlots({ graph, clock: deps.clock, ...known.value }, query, signal);
      if (slots.kind !== "found" || known.value.service.offered.staffSelectable) return slots;
      return found(slots.value.map((slot) => ({ ...slot, staffIds: [] })));
    },
    findByReference,
    book: async (request, signal) => {
      const known = await catalog.findService(request, signal);
      if (known.kind !== "found") return known;
      const { catalog: offers, service } = known.value;
      const at = { from: request.startAt, to: new Date(request.startAt.getTime() + 1) };
      const calendarPath = toCalendarPath(toCalendarRange(offers, toNeededRange(service, at)));
      const bookDeps = {
        graph,
        ...known.value,
        find: () => findByReference(request, signal),
        listFreeStaff: async () => {
          const slots = await readSlots({ graph, clock: deps.clock, ...known.value }, { ...request, ...at }, signal);
          if (slots.kind !== "found") return slots;
          const free = slots.value[0]?.staffIds ?? [];
          return found(free.filter((id) => request.offeredStaffIds?.includes(id) ?? true));
        },
        listNearby: () => graph.list(calendarPath, shapes.appointments, signal),
      };
      return await bookAppointment(bookDeps, request, signal);
    },
    follow: ({ externalId }, signal) => followAppointment(graph, externalId, signal),
    listChanged: ({ known }, signal) => listDifferent(graph, { known, now: deps.clock.now() }, signal),
    subscriptions: null,
    cancel: ({ externalId }, signal) =>
      cancelAppointment(graph, { id: externalId, message: "This appointment was cancelled." }, signal),
  };
}

type ReadDeps = { graph: Graph; clock: Clock };

async function readSlots(
  { graph, clock, catalog, service }: ReadDeps & { catalog: Catalog; service: GraphService },
  query: SlotQuery,
  signal: AbortSignal,
): Promise<Read<Slot[]>> {
  if (service.staffIds.length === 0) return found([]);
  const needed = toNeededRange(service, query);
  const [availability, appointments] = await Promise.all([
    readAvailability(graph, { staffIds: service.staffIds, ...needed }, signal),
    graph.list(toCalendarPath(toCalendarRange(catalog, needed)), shapes.appointments, signal),
  ]);
  if (availability.kind !== "found") return availability;
  if (appointments.kind !== "found") return appointments;
  const calendar = { availability: availability.value, appointments: appointments.value };
  const timeByStaff = toTimeByStaff(catalog, service, calendar);
  if (timeByStaff === null || catalog.timeZone === null) return unavailable(UNREADABLE);
  return found(toFreeTimes(catalog, service, { ...query, now: clock.now(), timeByStaff }));
}

async function readAvailability(
  graph: Graph,
  query: { staffIds: readonly string[]; from: Date; to: Date },
  signal: AbortSignal,
) {
  const body = {
    staffIds: query.staffIds,
    startDateTime: toGraphMinute(query.from, "down"),
    endDateTime: toGraphMinute(query.to, "up"),
  };
  const reply = await graph.post("/getStaffAvailability", body, signal);
  if (isFailure(reply)) return reply;
  const read = readReply(reply, shapes.staffAvailability);
  if (read.kind !== "found") return read;
  return found("value" in read.value ? read.value.value : read.value.staffAvailabilityItem);
}

/** The calendar's list has no notes, so appointments that could match are read one by one. */
async function findAppointment(graph: Graph, lookup: Lookup, signal: AbortSignal): Promise<Read<Appointment | null>> {
  const startMs = lookup.startAt.getTime();
  const path = toCalendarPath({ from: new Date(startMs - HOUR_MS), to: new Date(startMs + HOUR_MS) });
  const listed = await graph.list(path, shapes.appointments, signal);
  if (listed.kind !== "found") return listed;
  const candidates = listed.value.filter(
    (appointment) => appointment.serviceId === lookup.serviceId && toStart(appointment)?.getTime() === startMs,
  );
  // A group can have many appointments at one time, and the one looked for is usually among the newest.
  const newestFirst = candidates.toSorted((a, b) => toCreatedMs(b) - toCreatedMs(a));
  for (const { id } of newestFirst.slice(0, CANDIDATES_MAX)) {
    const read = await graph.read(`/appointments/${encodeURIComponent(id)}`, shapes.appointment, signal);
    if (read.kind !== "found") return read;
    const { serviceNotes, additionalInformation } = read.value;
    if (`${serviceNotes} ${additionalInformation}`.includes(lookup.reference)) return read;
  }
  // The appointment may be among those that were not read, and "absent" would tell the visitor that nothing was booked.
  return candidates.length > CANDIDATES_MAX ? unavailable(UNREADABLE) : found(null);
}

/** Reads availability too, because it needs its own permission. */
async function verify({ graph, clock }: ReadDeps, catalog: Catalog, signal: AbortSignal): Promise<Read<Verified>> {
  const [member] = catalog.staff;
  if (member !== undefined) {
    const from = clock.now();
    const query = { staffIds: [member.id], from, to: new Date(from.getTime() + DAY_MS) };
    const availability = await readAvailability(graph, query, signal);
    if (availability.kind !== "found") return availability;
  }
  const warnings: string[] = [];
  const { businessName, timeZone, bookingUrl, services } = catalog;
  if (services.length === 0) warnings.push("This booking page has no service that customers can see.");
  if (timeZone === null) warnings.push("The booking page's time zone is unknown, so no available times can be shown.");
  for (const { offered, staffIds, seatCount } of services) {
    if (staffIds.length === 0) warnings.push(`“${offered.name}” has no staff, so it has no available times.`);
    if (seatCount > 1)
      warnings.push(`“${offered.name}” is a group service: up to ${seatCount} customers can book the same time.`);
  }
  warnings.push(...warnOfMany(catalog, "services", catalog.unreadCount));
  return found({ businessName, timeZone, bookingUrl, warnings });
}
