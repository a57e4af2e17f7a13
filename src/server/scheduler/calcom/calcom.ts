import { HOUR_MS, MINUTE_MS } from "#contract/durations.ts";
import { SlicedWork } from "../../lib/concurrency/sliced-work.ts";
import type { Clock } from "../../lib/time/clock.ts";
import { parseIsoInstant } from "../../lib/time/iso-instant.ts";
import type { AccountLimits } from "../account-limits.ts";
import type { CalcomParts } from "../connections/connection-settings.ts";
import { createKeptCatalog, findBookedService, warnOfMany } from "../kept-read.ts";
import type { Outbound } from "../outbound.ts";
import { SLOTS_MAX } from "../reply-limits.ts";
import type { RequestBudget } from "../request-budget.ts";
import {
  type BookOutcome,
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
import { isStillFree } from "../settle-reply.ts";
import { type CalcomApi, createCalcomApi } from "./api.ts";
import { bookEventType, cancelBooking } from "./book.ts";
import { type CalcomService, type Catalog, leaveOutHidden, readCatalog, readService } from "./catalog.ts";
import { followBooking, listChangedBookings, toBooked } from "./follow.ts";
import { readAllHidden, readDueHidden, readHidden } from "./hidden-questions.ts";
import { createSubscriptions } from "./notices.ts";
import { shapes } from "./shapes.ts";

// Cal.com's API v2, hosted or self-hosted, with a user's API key.

export function createCalcom(
  deps: { outbound: Outbound; clock: Clock; budget: RequestBudget; accountLimits: AccountLimits },
  parts: CalcomParts,
): UnlimitedSystem {
  const api = createCalcomApi(deps, parts);
  const { webUrl } = parts.settings;
  const { catalog, readThoroughly, recheck, findBooked } = createCatalog(deps, { api, parts });
  const justTaken = new JustTaken(deps.clock);

  const listSlots = async (query: SlotQuery, signal: AbortSignal): Promise<Read<Slot[]>> => {
    const known = await catalog.findService(query, signal);
    if (known.kind !== "found") return known;
    const read = await readSlots(api, { ...query, ...known.value.service, now: deps.clock.now() }, signal);
    return read.kind === "found" ? found(justTaken.without(read.value)) : read;
  };

  const findByReference = async (lookup: Lookup, signal: AbortSignal): Promise<FindOutcome> => {
    const service = await findBooked(lookup, signal);
    if (service.kind !== "found") return service;
    return await findBooking({ api, service: service.value, webUrl }, lookup, signal);
  };

  return {
    kind: "calcom",
    mode: "live",
    verify: async (signal) => {
      const versions = await api.versions.refresh(signal);
      if (versions.kind !== "found") return versions;
      const fresh = await readThoroughly(signal);
      return fresh.kind === "found" ? found(toVerified(fresh.value)) : fresh;
    },
    listServices: catalog.listServices,
    listSlots,
    findByReference,
    book: async (request, signal) => {
      const known = await catalog.findService(request, signal);
      if (known.kind !== "found") return known;
      const { service } = known.value;
      const outcome = await bookEventType({ api, service, webUrl }, request, signal, {
        find: () => findByReference(request, signal),
        isFree: () => isStillFree(listSlots, request, signal),
      });
      if (outcome.kind === "refused" && outcome.reason === "invalid") await recheck(known.value, signal);
      // Another member of a team may still be free.
      if (service.teamId === null) justTaken.note(request.startAt, outcome);
      return outcome;
    },
    follow: ({ externalId }, signal) => followBooking({ api, webUrl }, externalId, signal),
    listChanged: async (query, signal) => {
      const known = await catalog.get(signal);
      if (known.kind !== "found") return known;
      return await listChangedBookings(api, { ...query, services: known.value.services }, signal);
    },
    subscriptions: createSubscriptions(api),
    cancel: ({ externalId }, signal) => {
      justTaken.free(externalId);
      return cancelBooking(api, { uid: externalId, reason: "Cancelled by Bookflow." }, signal);
    },
  };
}

type CatalogDeps = { clock: Clock; budget: RequestBudget; accountLimits: AccountLimits };

function createCatalog(
  { accountLimits, ...deps }: CatalogDeps,
  { api, parts }: { api: CalcomApi; parts: CalcomParts },
) {
  const hidden = accountLimits.hiddenQuestionsOf(parts);
  const reading = { ...deps, api, hidden };
  let isThorough = false;
  const catalog = createKeptCatalog<Catalog>(deps, async (signal) => {
    const read = await readCatalog(api, signal);
    if (read.kind !== "found") return read;
    const ids = read.value.services.map(({ eventTypeId }) => eventTypeId);
    await (isThorough ? readAllHidden : readDueHidden)(reading, ids, signal);
    return found(leaveOutHidden(read.value, hidden));
  });
  /** For "Test". */
  const readThoroughly = async (signal: AbortSignal): Promise<Read<Catalog>> => {
    isThorough = true;
    try {
      return await catalog.refresh(signal);
    } finally {
      isThorough = false;
    }
  };
  /** Cal.com refused a booking of it. */
  const recheck = async (known: { catalog: Catalog; service: CalcomService }, signal: AbortSignal): Promise<void> => {
    const { eventTypeId } = known.service;
    await readHidden(reading, eventTypeId, signal);
    if (hidden.find(eventTypeId) !== null) catalog.forget(known.catalog);
  };
  const findBooked = async ({ serviceId }: Lookup, signal: AbortSignal): Promise<Read<CalcomService>> => {
    const offered = await catalog.findService({ serviceId, staffId: null }, signal);
    return await findBookedService(offered, () => readService(api, serviceId, signal));
  };
  return { catalog, readThoroughly, recheck, findBooked };
}

function toVerified(catalog: Catalog): Verified {
  const { userName, timeZone, bookingUrl, services, leftOut } = catalog;
  const nothing = services.length === 0 ? ["This user has no event type that can be booked through a widget."] : [];
  return {
    businessName: userName,
    timeZone,
    bookingUrl,
    warnings: [...leftOut, ...nothing, ...warnOfMany(catalog, "event types")],
  };
}

/** Asks for whole days in UTC and drops times outside the range, because Cal.com has been seen to return more. */
async function readSlots(
  api: CalcomApi,
  query: { eventTypeId: number; from: Date; to: Date; now: Date },
  signal: AbortSignal,
): Promise<Read<Slot[]>> {
  const toDay = (ms: number): string => new Date(ms).toISOString().slice(0, 10);
  const days = await api.read(
    {
      resource: "slots",
      path: "/slots",
      query: {
        eventTypeId: String(query.eventTypeId),
        start: toDay(query.from.getTime()),
        end: toDay(query.to.getTime() - 1),
        timeZone: "UTC",
        format: "range",
      },
    },
    shapes.slots,
    signal,
  );
  if (days.kind !== "found") return days;
  const listed = Object.values(days.value.data);
  if (listed.reduce((sum, { length }) => sum + length, 0) > SLOTS_MAX) return unavailable(UNREADABLE);
  const slots = new Map<number, Slot>();
  const sliced = new SlicedWork();
  for (const day of listed)
    await sliced.spend(() => {
      for (const { start, end } of day) {
        const startAt = parseIsoInstant(start, "down");
        if (!startAt || startAt < query.from || startAt >= query.to || startAt <= query.now) continue;
        const endAt = parseIsoInstant(end, "down");
        if (endAt !== null && endAt > startAt) slots.set(startAt.getTime(), { startAt, endAt, staffIds: [] });
      }
    });
  return found([...slots.values()].sort((a, b) => a.startAt.getTime() - b.startAt.getTime()));
}

/**
 * Cal.com's filters have been broken before, so the results are checked again; only accepted bookings count. Bookings of a
 * team are read from the team, which only its admins may: others get an error rather than an incomplete list.
 */
async function findBooking(
  { api, service, webUrl }: { api: CalcomApi; service: CalcomService; webUrl: string },
  lookup: Lookup,
  signal: AbortSignal,
): Promise<FindOutcome> {
  const startMs = lookup.startAt.getTime();
  const endMs = startMs + service.offered.durationMinutes * MINUTE_MS;
  const page = await api.listBookings(
    {
      path: service.teamId === null ? "/bookings" : `/teams/${service.teamId}/bookings`,
      query: {
        eventTypeId: String(service.eventTypeId),
        afterStart: new Date(startMs - HOUR_MS).toISOString(),
        beforeEnd: new Date(endMs + HOUR_MS).toISOString(),
        sortCreated: "desc",
      },
    },
    signal,
  );
  if (page.kind !== "found") return page;
  const { bookings, next } = page.value;
  const booking = bookings.find(
    ({ metadata, status }) => status === "accepted" && metadata?.["reference"] === lookup.reference,
  );
  if (booking) return found(toBooked({ service, webUrl }, booking, lookup));
  // The booking may be among those that were not read, and "absent" would tell the visitor that nothing was booked.
  return next === null ? { kind: "absent" } : unavailable();
}

/** Cal.com keeps its lists of available times for two seconds, and reading one takes up to eight. */
const LAG_MS = 10_000;

type Taken = { readonly hides: (slot: Slot) => boolean; readonly externalId: string | null; readonly atMs: number };

/** Times that turned out to be taken a moment ago, and may still be listed as available. */
class JustTaken {
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
