import { setTimeout as sleep } from "node:timers/promises";
import { HOUR_MS, MINUTE_MS } from "#contract/durations.ts";
import type { CalendlyPlan } from "#contract/scheduling.ts";
import type { Clock } from "../../lib/time/clock.ts";
import { parseIsoInstant } from "../../lib/time/iso-instant.ts";
import type { AccountLimits } from "../account-limits.ts";
import { toKnownRange } from "../compare-known.ts";
import type { CalendlyParts } from "../connections/connection-settings.ts";
import { createKeptCatalog, findBookedService, warnOfMany } from "../kept-read.ts";
import { type Outbound, WAIT_MS_MAX } from "../outbound.ts";
import { toCanceled } from "../read-reply.ts";
import type { RequestBudget } from "../request-budget.ts";
import {
  type FindOutcome,
  found,
  type Lookup,
  type Read,
  type Slot,
  type SlotQuery,
  type UnlimitedSystem,
  unavailable,
  type Verified,
} from "../scheduling-system.ts";
import { isStillFree } from "../settle-reply.ts";
import { type CalendlyApi, createCalendlyApi, PAGE_SIZE, toUuid } from "./api.ts";
import { bookEventType, toBooked } from "./book.ts";
import type { BookingQuota } from "./booking-quota.ts";
import { type CalendlyService, type Catalog, readCatalog, readService } from "./catalog.ts";
import { followEvent, listDifferent } from "./follow.ts";
import { createSubscriptions } from "./notices.ts";
import { shapes } from "./shapes.ts";

// Calendly's API v2 with a personal access token. Calendly limits bookings per user (booking-quota.ts). A booking over the
// limit waits if the wait is short; otherwise nothing is sent, and the wait is reported.

const RATE_LIMIT_WARNINGS: Readonly<Record<CalendlyPlan, string>> = {
  trial: "On a trial, Calendly accepts at most 5 bookings per day from one user.",
  paid: "On paid plans, Calendly accepts at most 10 bookings per minute, 50 per hour and 100 per day from one user.",
  enterprise: "On enterprise plans, Calendly accepts at most 500 bookings per minute from one user.",
};
/** Events of one event type that start at the same time; the invitees of each are read. */
const CANDIDATES_MAX = 20;

export function createCalendly(
  deps: { outbound: Outbound; clock: Clock; accountLimits: AccountLimits; budget: RequestBudget },
  parts: CalendlyParts,
): UnlimitedSystem {
  const api = createCalendlyApi(deps, parts);
  const catalog = createKeptCatalog<Catalog>(deps, (signal) => readCatalog(api, signal));
  const quota = deps.accountLimits.ofCalendlyUser(parts);

  const listSlots = async (query: SlotQuery, signal: AbortSignal): Promise<Read<Slot[]>> => {
    const known = await catalog.findService(query, signal);
    if (known.kind !== "found") return known;
    return await readSlots({ api, service: known.value.service }, { ...query, now: deps.clock.now() }, signal);
  };

  const findByReference = async (lookup: Lookup, signal: AbortSignal): Promise<FindOutcome> => {
    const offered = await catalog.findService({ ...lookup, staffId: null }, signal);
    const service = await findBookedService(offered, () => readService(api, lookup.serviceId, signal));
    if (service.kind !== "found") return service;
    const account = await catalog.get(signal);
    if (account.kind !== "found") return account;
    return await findInvitee({ api, service: service.value, catalog: account.value }, lookup, signal);
  };

  return {
    kind: "calendly",
    mode: "live",
    verify: async (signal) => {
      const fresh = await catalog.refresh(signal);
      return fresh.kind === "found" ? found(toVerified(fresh.value, parts.settings.plan)) : fresh;
    },
    listServices: catalog.listServices,
    listSlots,
    findByReference,
    book: async (request, signal) => {
      const known = await catalog.findService(request, signal);
      if (known.kind !== "found") return known;
      const waitMs = await waitForQuota(quota, signal);
      if (waitMs > 0) return unavailable(null, waitMs);
      return await bookEventType({ api, service: known.value.service }, request, signal, {
        find: () => findByReference(request, signal),
        isFree: () => isStillFree(listSlots, request, signal),
      });
    },
    follow: (appointment, signal) => followEvent(api, appointment, signal),
    listChanged: async ({ known }, signal) => {
      const range = toKnownRange(known, deps.clock.now());
      if (range === null) return found({ externalIds: [], until: null });
      const account = await catalog.get(signal);
      if (account.kind !== "found") return account;
      return await listDifferent(api, { ...range, known, userUri: account.value.userUri }, signal);
    },
    subscriptions: createSubscriptions(api, catalog),
    cancel: (appointment, signal) => cancelEvent(api, appointment.externalId, signal),
  };
}

async function cancelEvent(api: CalendlyApi, externalId: string, signal: AbortSignal): Promise<Read<"canceled">> {
  const path = `/scheduled_events/${encodeURIComponent(externalId)}`;
  const reply = await api.post(`${path}/cancellation`, { reason: "Cancelled by Bookflow." }, signal);
  const canceled = toCanceled(reply);
  if (canceled.kind !== "refused") return canceled;
  // An event that was already cancelled cannot be cancelled again.
  const event = await api.read(path, shapes.scheduledEvent, signal);
  return event.kind === "found" && event.value.status === "canceled" ? found("canceled") : canceled;
}

/** Returns 0 once a booking may be sent, which is then counted; otherwise the wait that is left. */
async function waitForQuota(quota: BookingQuota, signal: AbortSignal): Promise<number> {
  let leftMs = quota.findWaitMs();
  // A timer can fire a millisecond early, so one sleep may not be enough.
  for (let sleptMs = 0; leftMs > 0 && sleptMs + leftMs <= WAIT_MS_MAX && !signal.aborted; ) {
    // The only rejection is the abort of the signal, after which nothing is sent.
    await sleep(leftMs, undefined, { signal }).catch(() => undefined);
    sleptMs += leftMs;
    leftMs = quota.findWaitMs();
  }
  if (leftMs === 0) quota.add();
  return leftMs;
}

function toVerified(catalog: Catalog, plan: CalendlyPlan): Verified {
  const { userName, timeZone, bookingUrl, services, warnings } = catalog;
  const nothing = services.length === 0 ? ["This user has no event type that can be booked through a widget."] : [];
  return {
    businessName: userName,
    timeZone,
    bookingUrl,
    warnings: [...warnings, ...nothing, ...warnOfMany(catalog, "event types"), RATE_LIMIT_WARNINGS[plan]],
  };
}

/** Calendly takes ranges in the future only. */
async function readSlots(
  { api, service }: { api: CalendlyApi; service: CalendlyService },
  { from, to, now }: { from: Date; to: Date; now: Date },
  signal: AbortSignal,
): Promise<Read<Slot[]>> {
  const startMs = Math.max(from.getTime(), now.getTime() + MINUTE_MS);
  if (startMs >= to.getTime()) return found([]);
  const query = {
    event_type: service.eventTypeUri,
    start_time: new Date(startMs).toISOString(),
    end_time: new Date(Math.max(to.getTime(), startMs + HOUR_MS)).toISOString(),
  };
  const times = await api.list({ path: "/event_type_available_times", query }, shapes.availableTimes, signal);
  if (times.kind !== "found") return times;
  const starts = times.value
    .filter(({ status }) => (status ?? "available") === "available")
    .map(({ start_time }) => parseIsoInstant(start_time, "down"))
    .filter((start) => start !== null && start >= from && start < to && start > now)
    .map((start) => start?.getTime() ?? 0);
  const durationMs = service.offered.durationMinutes * MINUTE_MS;
  return found(
    [...new Set(starts)]
      .sort((a, b) => a - b)
      .map((ms) => ({ startAt: new Date(ms), endAt: new Date(ms + durationMs), staffIds: [] })),
  );
}

/** Bookings of a pooled event type can be with any member, so they are looked for in the whole organization. */
async function findInvitee(
  { api, service, catalog }: { api: CalendlyApi; service: CalendlyService; catalog: Catalog },
  lookup: Lookup,
  signal: AbortSignal,
): Promise<FindOutcome> {
  const startMs = lookup.startAt.getTime();
  const query = {
    ...(service.isPooled ? { organization: catalog.organizationUri } : { user: catalog.userUri }),
    min_start_time: new Date(startMs - MINUTE_MS).toISOString(),
    max_start_time: new Date(startMs + MINUTE_MS).toISOString(),
    status: "active",
    ...PAGE_SIZE,
  };
  const events = await api.list({ path: "/scheduled_events", query }, shapes.scheduledEvents, signal);
  if (events.kind !== "found") return events;
  const candidates = events.value.filter(
    ({ event_type, start_time }) =>
      event_type === service.eventTypeUri && parseIsoInstant(start_time, "down")?.getTime() === startMs,
  );
  for (const event of candidates.slice(0, CANDIDATES_MAX)) {
    const path = `/scheduled_events/${toUuid(event.uri)}/invitees`;
    const invitees = await api.list({ path, query: PAGE_SIZE }, shapes.invitees, signal);
    if (invitees.kind !== "found") return invitees;
    const invitee = invitees.value.find(
      ({ status, tracking }) => status === "active" && tracking?.utm_content === lookup.reference,
    );
    if (invitee) return found(toBooked(service, { invitee, event }, lookup));
  }
  // The booking may be among those that were not read, and "absent" would tell the visitor that nothing was booked.
  return candidates.length > CANDIDATES_MAX ? unavailable() : { kind: "absent" };
}
