import { isDeepStrictEqual } from "node:util";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "#contract/durations.ts";
import type { CalcomParts } from "../../../../src/server/scheduler/connections/connection-settings.ts";
import { type ReceivedRequest, type Reply, type Silence, startLocalServer } from "../local-server.ts";
import { listUpdated } from "./calcom-changes.ts";
import { toError } from "./calcom-error.ts";
import { findInvalidField, findRefusal } from "./calcom-refusals.ts";
import { CalcomThrottle } from "./calcom-throttle.ts";
import { CalcomWebhooks } from "./calcom-webhooks.ts";
import { allEventTypes, CALCOM_NOW, eventTypes, me, strangersEventTypes, teams } from "./calcom-world.ts";

// For tests: Cal.com's API v2 as described by its source code (calcom/cal.com 44ccc72f) and documentation. It refuses what
// Cal.com refuses: numeric answers of either type, long text areas, invalid phone numbers, blocked addresses, unverified
// addresses. It also has Cal.com's quirks: the oldest shape for an unknown version, lists without hidden fields, available times that
// are up to two seconds old and outside the range, bookings at any free minute, filters that don't filter, and 400 with a message for
// a taken time.

/** The next response of a route instead of its usual one, if it has another. With `creates`, the booking is still made. */
export type FaultInjection = { reply?: Reply | Silence; creates?: boolean; onArrival?: () => void };

export type CalcomServer = {
  readonly parts: CalcomParts;
  readonly bookings: CalcomBooking[];
  readonly webhooks: CalcomWebhooks;
  readonly faults: string[];
  readonly requests: ReceivedRequest[];
  /** The status of new bookings. */
  newStatus: string;
  /** The versions of the bookings API that the server supports, for lists and for everything else. */
  versions: { list: string[]; write: string[] };
  /** Event types that the user has hidden since. */
  readonly withdrawn: Set<string>;
  /** Whether the server has teams at all; Cal.diy has none. */
  hasTeams: boolean;
  /** The clock of most tests stands still, so the server allows a million requests a minute until a test sets its limit. */
  throttle: { readonly limit: CalcomThrottle; readonly nowMs: () => number };
  /** `GET /me`, `GET /slots`, `POST /bookings`, … */
  injectFault(route: string, ...injections: FaultInjection[]): void;
  /** Drops injections that no request has used yet. */
  stopFaults(): void;
  stop(): Promise<void>;
};

export type CalcomBooking = {
  id: number;
  uid: string;
  status: string;
  start: string;
  end: string;
  eventTypeId: number;
  hosts: { id: number; name: string }[];
  attendees: { name: string; email: string; phoneNumber?: string; language?: string }[];
  location: string;
  bookingFieldsResponses: Record<string, unknown>;
  metadata: Record<string, string>;
  updatedAt: string;
  cancellationReason?: string;
  rescheduledFromUid?: string;
  rescheduledToUid?: string;
};

const API_KEY = "cal_live_0123456789abcdef";
const VERSIONS: Readonly<Record<string, string>> = {
  me: "2024-06-14",
  "event-types": "2024-06-14",
  teams: "2024-08-13",
  slots: "2024-09-04",
  webhooks: "2024-08-13",
};
const CURSOR_VERSION = "2026-05-01";
const STEP_MS = 30 * MINUTE_MS;
const SLOTS_KEPT_MS = 2_000;
export const CALCOM_REQUEST_ID = "req_8fK2";

export async function startCalcomServer(): Promise<CalcomServer> {
  const faults: string[] = [];
  const bookings: CalcomBooking[] = [];
  const injections = new Map<string, FaultInjection[]>();
  const keptSlots = new Map<string, { reply: Reply; untilMs: number }>();

  const fault = (what: string): Reply => {
    faults.push(what);
    return toError(400, "BadRequestException", what);
  };

  function serve(request: ReceivedRequest, route: string): Reply {
    const [, , first = "", id, action] = request.path.split("/");
    const resource = first === "teams" && action !== undefined ? action : first;
    if (request.headers.authorization !== `Bearer ${API_KEY}`)
      return toError(401, "UnauthorizedException", "CustomThrottlerGuard - Invalid API Key");
    const version = String(request.headers["cal-api-version"]);
    const isList = request.method === "GET" && (first === "teams" || id === undefined);
    const known = isList ? server.versions.list : server.versions.write;
    if (resource === "bookings" && !known.includes(version))
      return { status: 200, json: { status: "success", data: { bookings: [], recurringInfo: [], nextCursor: null } } };
    if (resource !== "bookings" && version !== VERSIONS[resource]) {
      faults.push(`${route}: cal-api-version`);
      return { status: 200, json: { event_types: [], slots: {} } };
    }
    if (route === "GET /teams") return serveTeams(request, { id, resource });
    if (resource === "webhooks") return server.webhooks.serve(request) ?? fault(`${route}: body or query`);
    if (route === "GET /me") return toSuccess(200, me);
    if (route === "GET /event-types") return id === undefined ? serveEventTypes(request) : serveEventType(id);
    if (route === "GET /slots") return serveSlotsAgain(request);
    if (route === "GET /bookings" && id === undefined)
      return serveBookings(request.query, { hasCursor: version === CURSOR_VERSION, teamId: null });
    if (route === "GET /bookings" && id !== undefined) return serveBooking(id);
    if (route === "POST /bookings" && action === "cancel") return serveCancel(request, id ?? "");
    return route === "POST /bookings" && id === undefined ? serveBook(request) : fault(`${route}: no such route`);
  }

  function serveEventTypes({ query }: ReceivedRequest): Reply {
    // By username and without an organization, Cal.com finds the first user of that name.
    if (query["username"] === me.username) return toSuccess(200, strangersEventTypes);
    if (!isDeepStrictEqual(query, {})) return fault("event-types: query");
    const toListed = (eventType: (typeof eventTypes)[number]) => ({
      ...eventType,
      hidden: eventType.hidden || server.withdrawn.has(String(eventType.id)),
      bookingFields: eventType.bookingFields.filter((field) => field["hidden"] !== true),
    });
    return toSuccess(200, eventTypes.map(toListed));
  }

  function serveEventType(id: string): Reply {
    const eventType = allEventTypes.find((candidate) => String(candidate.id) === id);
    const team = findTeam(eventType?.id);
    if (eventType) return toSuccess(200, { ...eventType, ...(team && { teamId: team.id }) });
    return toError(404, "NotFoundException", `Event type with id ${id} not found`);
  }

  function serveTeams(request: ReceivedRequest, { id, resource }: { id: string | undefined; resource: string }): Reply {
    if (!server.hasTeams) return toError(404, "NotFoundException", "Cannot GET /v2/teams");
    if (id === undefined)
      return toSuccess(
        200,
        teams.map((team) => ({ id: team.id, name: team.name })),
      );
    const team = teams.find((candidate) => String(candidate.id) === id);
    if (!team) return toError(404, "NotFoundException", "Team not found");
    if (resource === "event-types") return toSuccess(200, team.eventTypes);
    if (resource !== "bookings") return fault(`teams: ${resource}`);
    if (!team.isAdmin) return toError(403, "ForbiddenException", "RolesGuard - user is not an admin of the team");
    return serveBookings(request.query, { hasCursor: false, teamId: team.id });
  }

  function serveSlotsAgain(request: ReceivedRequest): Reply {
    const [key, nowMs] = [JSON.stringify(request.query), server.throttle.nowMs()];
    const kept = keptSlots.get(key);
    if (kept !== undefined && nowMs < kept.untilMs) return kept.reply;
    const reply = serveSlots(request);
    keptSlots.set(key, { reply, untilMs: nowMs + SLOTS_KEPT_MS });
    return reply;
  }

  function serveSlots({ query }: ReceivedRequest): Reply {
    const { eventTypeId, start = "", end = "", ...rest } = query;
    const eventType = allEventTypes.find(({ id }) => String(id) === eventTypeId);
    if (!isDeepStrictEqual(rest, { timeZone: "UTC", format: "range" })) return fault("slots: query");
    if (!eventType || ![start, end].every((day) => /^\d{4}-\d\d-\d\d$/.test(day))) return fault("slots: query");
    const days: Record<string, { start: string; end: string }[]> = {};
    // One more day on either side than requested.
    for (let dayMs = Date.parse(start) - DAY_MS; dayMs <= Date.parse(end) + DAY_MS; dayMs += DAY_MS) {
      const free = toGrid(dayMs, eventType.lengthInMinutes).filter((slot) => !isTaken(slot));
      const shown = free.map((slot) => ({ start: toIso(slot.startMs), end: toIso(slot.endMs) }));
      if (shown.length > 0) days[toIso(dayMs).slice(0, 10)] = shown;
    }
    return toSuccess(200, days);
  }

  function serveBookings(
    query: ReceivedRequest["query"],
    { hasCursor, teamId }: { hasCursor: boolean; teamId: number | null },
  ): Reply {
    if (isDeepStrictEqual(query, { take: "1" })) return toSuccess(200, bookings.slice(-1));
    if ("afterUpdatedAt" in query) {
      const own = bookings.filter(({ eventTypeId }) => (findTeam(eventTypeId)?.id ?? null) === teamId);
      const updated = listUpdated(own, { query, hasCursor });
      return updated ? { status: 200, json: { status: "success", ...updated } } : fault("bookings: query");
    }
    const sizeKey = hasCursor ? "limit" : "take";
    const keys = ["afterStart", "beforeEnd", "eventTypeId", "sortCreated", sizeKey].sort();
    const hasForm = isDeepStrictEqual(Object.keys(query).sort(), keys) && query["sortCreated"] === "desc";
    if (!hasForm) return fault("bookings: query");
    const { eventTypeId, afterStart = "", beforeEnd = "", [sizeKey]: size } = query;
    const found = bookings.filter(
      (booking) =>
        String(booking.eventTypeId) === eventTypeId &&
        Date.parse(booking.start) >= Date.parse(afterStart) &&
        Date.parse(booking.end) <= Date.parse(beforeEnd),
    );
    const data = found.toReversed().slice(0, Number(size));
    const hasMore = data.length < found.length;
    const pagination = hasCursor ? { hasMore, nextCursor: hasMore ? String(data.at(-1)?.id) : null } : {};
    return { status: 200, json: { status: "success", data, pagination } };
  }

  function serveBooking(uid: string): Reply {
    const booking = bookings.find((candidate) => candidate.uid === uid);
    if (booking) return toSuccess(200, booking);
    return toError(404, "NotFoundException", `Booking with uid=${uid} was not found in the database`);
  }

  function serveCancel(request: ReceivedRequest, uid: string): Reply {
    const keys = Object.keys(JSON.parse(request.body));
    const booking = bookings.find((candidate) => candidate.uid === uid);
    if (!booking || !isDeepStrictEqual(keys, ["cancellationReason"])) return fault("cancel");
    if (booking.status === "cancelled") {
      const message = `Can't cancel booking with uid=${uid} because it has been cancelled already.`;
      return toError(400, "BadRequestException", message);
    }
    booking.status = "cancelled";
    booking.cancellationReason = JSON.parse(request.body).cancellationReason;
    booking.updatedAt = toIso(server.throttle.nowMs());
    return toSuccess(200, booking);
  }

  function serveBook(request: ReceivedRequest): Reply {
    if (request.headers["content-type"] !== "application/json") return fault("bookings: content type");
    const wanted = JSON.parse(request.body);
    const invalidField = findInvalidField(wanted);
    if (invalidField !== null) return fault(`bookings: ${invalidField}`);
    const eventType = allEventTypes.find(({ id }) => id === wanted.eventTypeId);
    if (!eventType) return toError(404, "NotFoundException", `Event type with id ${wanted.eventTypeId} not found.`);
    const refusal = findRefusal(wanted, eventType);
    if (refusal !== null) return refusal;
    const startMs = Date.parse(wanted.start);
    if (startMs < server.throttle.nowMs())
      return toError(400, "BadRequestException", "Attempting to book a meeting in the past.");
    const slot = { startMs, endMs: startMs + eventType.lengthInMinutes * MINUTE_MS };
    // Cal.com returns the booking that a customer has already, whoever made it.
    const existing = bookings.find(
      ({ status, start, eventTypeId, attendees }) =>
        status === "accepted" &&
        eventTypeId === eventType.id &&
        Date.parse(start) === startMs &&
        attendees[0]?.email === wanted.attendee.email,
    );
    if (existing && eventType.schedulingType === "roundRobin") return toSuccess(201, existing);
    if (isTaken(slot) || !isOpen(slot)) {
      const who = eventType.schedulingType === null ? "User" : "One of the hosts";
      const message = `${who} either already has booking at this time or is not available`;
      return toError(400, "BadRequestException", message);
    }
    const number = bookings.length + 1;
    const isOnline = eventType.locations[0]?.["type"] === "integration";
    bookings.push({
      id: number,
      uid: `uid${number}`,
      status: isPaid(eventType) || "type" in eventType.confirmationPolicy ? "pending" : server.newStatus,
      start: toIso(slot.startMs),
      end: toIso(slot.endMs),
      eventTypeId: eventType.id,
      hosts: [{ id: 7, name: "Lindenhof Dental" }],
      attendees: [{ ...wanted.attendee }],
      location: isOnline ? `https://app.cal.com/video/uid${number}` : "Lindenstrasse 1",
      bookingFieldsResponses: wanted.bookingFieldsResponses,
      metadata: wanted.metadata,
      updatedAt: toIso(server.throttle.nowMs()),
    });
    return toSuccess(201, bookings.at(-1));
  }

  function isTaken(slot: TimeRange): boolean {
    return bookings.some(
      ({ status, start, end }) =>
        status !== "cancelled" && Date.parse(start) < slot.endMs && Date.parse(end) > slot.startMs,
    );
  }

  const local = await startLocalServer((request) => {
    const route = `${request.method} /${request.path.split("/")[2] ?? ""}`;
    const throttled = server.throttle.limit.take(server.throttle.nowMs());
    const headers = { "X-Request-Id": CALCOM_REQUEST_ID, ...throttled.headers };
    if (throttled.refusal) return { ...throttled.refusal, headers };
    if (!request.path.startsWith("/v2/")) return fault(`${request.path}: no such path`);
    const injection = injections.get(route)?.shift();
    const usual = injection === undefined || injection.creates ? serve(request, route) : null;
    injection?.onArrival?.();
    const given = injection?.reply ?? usual ?? "reset";
    return typeof given === "string" ? given : { ...given, headers: { ...headers, ...given.headers } };
  });
  const server: CalcomServer = {
    parts: {
      settings: { apiUrl: local.url, webUrl: "https://app.cal.com" },
      credentials: { apiKey: API_KEY },
    },
    bookings,
    webhooks: new CalcomWebhooks(),
    faults,
    requests: local.requests,
    newStatus: "accepted",
    versions: { list: ["2024-08-13", "2026-02-25", "2026-05-01"], write: ["2024-08-13", "2026-02-25"] },
    withdrawn: new Set(),
    hasTeams: true,
    throttle: { limit: new CalcomThrottle(1_000_000), nowMs: () => CALCOM_NOW.getTime() },
    injectFault: (route, ...next) => injections.set(route, [...(injections.get(route) ?? []), ...next]),
    stopFaults: () => injections.clear(),
    stop: () => local.stop(),
  };
  return server;
}

function findTeam(eventTypeId: number | undefined) {
  return teams.find(({ eventTypes: ofTeam }) => ofTeam.some(({ id }) => id === eventTypeId));
}

type TimeRange = { startMs: number; endMs: number };

function toGrid(dayMs: number, lengthInMinutes: number): TimeRange[] {
  return Array.from({ length: DAY_MS / STEP_MS }, (_, index) => {
    const startMs = dayMs + index * STEP_MS;
    return { startMs, endMs: startMs + lengthInMinutes * MINUTE_MS };
  }).filter(isOpen);
}

/** From 08:00 to 16:00, Monday to Friday. */
function isOpen({ startMs, endMs }: TimeRange): boolean {
  const dayMs = startMs - (startMs % DAY_MS);
  const isWeekday = ![0, 6].includes(new Date(dayMs).getUTCDay());
  return isWeekday && startMs >= dayMs + 8 * HOUR_MS && endMs <= dayMs + 16 * HOUR_MS;
}

function isPaid({ price, metadata }: (typeof eventTypes)[number]): boolean {
  return price > 0 && metadata.apps?.stripe?.enabled !== false;
}

function toSuccess(status: number, data: unknown): Reply {
  return { status, json: { status: "success", data } };
}

function toIso(ms: number): string {
  return new Date(ms).toISOString();
}
