import { isDeepStrictEqual } from "node:util";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "#contract/durations.ts";
import type { CalendlyParts } from "../../../../src/server/scheduler/connections/connection-settings.ts";
import { type ReceivedRequest, type Reply, type Silence, startLocalServer } from "../local-server.ts";
import { CalendlyWebhooks } from "./calendly-webhooks.ts";
import { API, eventTypes, ORGANIZATION_URI, user } from "./calendly-world.ts";

// For tests: Calendly's API v2 with its scheduling API as documented. It refuses what the documentation says is refused: times
// in the past, ranges over 31 days, questions whose text or position differs, tracking without all six fields, locations that
// the event type doesn't have, and an eleventh booking within a minute.

/** The next response of a route instead of its usual one. With `creates`, the booking is still made. */
export type FaultInjection = { reply: Reply | Silence; creates?: boolean; onArrival?: () => void };

export type CalendlyServer = {
  readonly parts: CalendlyParts;
  readonly bookings: CalendlyBooking[];
  readonly webhooks: CalendlyWebhooks;
  /** Requests that Calendly would not have understood. */
  readonly faults: string[];
  /** Services that the business has turned off since. */
  readonly withdrawn: Set<string>;
  readonly requests: ReceivedRequest[];
  /** Whether the token's user is an admin of their organization. */
  isAdmin: boolean;
  now: Date;
  /** `GET /users`, `POST /invitees`, … */
  injectFault(route: string, ...injections: FaultInjection[]): void;
  stop(): Promise<void>;
};

export type CalendlyBooking = {
  uuid: string;
  status: "active" | "canceled";
  start_time: string;
  end_time: string;
  event_type: string;
  isOnline: boolean;
  /** The scheme of its links. */
  links: string;
  invitee: { name: string; email: string; timezone: string };
  questions_and_answers: { question: string; answer: string; position: number }[];
  tracking: Record<string, string | null>;
  /** The event that a move has put in the place of this one. */
  movedTo?: string;
};

const TOKEN = "eyJraWQiOiIxY2UxZTEzNjE3ZGNmNzY2YjNjZWJjY2Y4ZGM1YmFmYThhNjVlNjg0MDIzZjdjMzJiZTgzNDliMjM4MDEzNWI0In0";
const STEP_MS = 30 * MINUTE_MS;
const BOOKINGS_PER_MINUTE_MAX = 10;
const EVENT_TYPES_PER_PAGE = 4;
const TRACKING_KEYS = ["salesforce_uuid", "utm_campaign", "utm_content", "utm_medium", "utm_source", "utm_term"];
export const CALENDLY_REQUEST_ID = "0a1b2c3d";

export async function startCalendlyServer(now: Date): Promise<CalendlyServer> {
  const faults: string[] = [];
  const bookings: CalendlyBooking[] = [];
  const bookedAt: number[] = [];
  const injections = new Map<string, FaultInjection[]>();

  const fault = (parameter: string): Reply => {
    faults.push(parameter);
    return toError(400, "Invalid Argument", [{ parameter, message: "is invalid" }]);
  };

  function serve(request: ReceivedRequest): Reply {
    const [, resource = "", id, part] = request.path.split("/");
    if (request.headers.authorization !== `Bearer ${TOKEN}`) return toError(401, "Unauthenticated");
    if (resource === "webhook_subscriptions")
      return server.webhooks.serve(request, server.isAdmin) ?? fault(`${request.method} ${request.path}`);
    switch (`${request.method} ${resource}${id === undefined ? "" : "/id"}${part === undefined ? "" : `/${part}`}`) {
      case "GET users/id":
        return id === "me" ? { status: 200, json: { resource: user } } : fault("users");
      case "GET event_types":
        return serveEventTypes(request);
      case "GET event_types/id":
        return toOne(
          eventTypes.find(({ uri }) => uri.endsWith(`/${id}`)),
          (resource) => ({ resource }),
        );
      case "GET event_type_available_times":
        return serveAvailableTimes(request);
      case "GET scheduled_events":
        return serveScheduledEvents(request);
      case "GET scheduled_events/id":
        return toOne(
          bookings.find(({ uuid }) => uuid === id),
          (booking) => ({ resource: toEvent(booking) }),
        );
      case "GET scheduled_events/id/invitees":
        return toOne(
          bookings.find(({ uuid }) => uuid === id),
          (booking) => toPage([toInvitee(booking)]),
        );
      case "POST scheduled_events/id/cancellation":
        return serveCancellation(request, id ?? "");
      case "POST invitees":
        return serveInvitees(request);
      default:
        return fault(`${request.method} ${request.path}`);
    }
  }

  /** Small pages, so that paging is needed. */
  function serveEventTypes({ query }: ReceivedRequest): Reply {
    const { page_token: token = "0", ...rest } = query;
    if (!isDeepStrictEqual(rest, { user: user.uri, active: "true", count: "100" })) return fault("event_types: query");
    const active = eventTypes.filter(({ uri }) => ![...server.withdrawn].some((id) => uri.endsWith(`/${id}`)));
    const next = Number(token) + EVENT_TYPES_PER_PAGE;
    return {
      status: 200,
      json: {
        collection: active.slice(Number(token), next),
        pagination: { count: EVENT_TYPES_PER_PAGE, next_page_token: next < active.length ? String(next) : null },
      },
    };
  }

  function serveAvailableTimes({ query }: ReceivedRequest): Reply {
    const { event_type: uri, start_time: start = "", end_time: end = "" } = query;
    const eventType = eventTypes.find((candidate) => candidate.uri === uri);
    const [startMs, endMs] = [Date.parse(start), Date.parse(end)];
    if (!eventType || !(startMs < endMs)) return fault("available times: query");
    if (startMs < server.now.getTime()) return fault("available times: start_time must be in the future");
    if (endMs - startMs > 31 * DAY_MS) return fault("available times: range");
    const times: object[] = [];
    for (let dayMs = startMs - (startMs % DAY_MS); dayMs < endMs; dayMs += DAY_MS) {
      for (const atMs of toGrid(dayMs, eventType.duration)) {
        if (atMs < startMs || atMs >= endMs || isTaken(atMs, eventType.duration)) continue;
        times.push({ status: "available", invitees_remaining: 1, start_time: toMicroseconds(atMs) });
      }
    }
    return { status: 200, json: { collection: times } };
  }

  function serveScheduledEvents({ query }: ReceivedRequest): Reply {
    const { user: ofUser, organization, min_start_time: min = "", max_start_time: max = "", status } = query;
    if (status !== "active" || (ofUser === undefined) === (organization === undefined)) return fault("events: query");
    if (organization !== undefined && (organization !== ORGANIZATION_URI || !server.isAdmin))
      return toError(403, "Permission Denied");
    const found = bookings.filter(
      (booking) =>
        booking.status === "active" &&
        Date.parse(booking.start_time) >= Date.parse(min) &&
        Date.parse(booking.start_time) <= Date.parse(max) &&
        // A round robin gives its bookings to a colleague.
        (organization !== undefined || !booking.event_type.endsWith("/ANY")),
    );
    return { status: 200, json: toPage(found.map(toEvent)) };
  }

  function serveCancellation(request: ReceivedRequest, uuid: string): Reply {
    const booking = bookings.find((candidate) => candidate.uuid === uuid);
    if (!booking) return toError(404, "Resource Not Found");
    if (typeof JSON.parse(request.body).reason !== "string") return fault("cancellation: reason");
    if (booking.status === "canceled") return toError(403, "Permission Denied");
    booking.status = "canceled";
    return { status: 201, json: { resource: { canceled_by: user.name, reason: "", canceler_type: "host" } } };
  }

  function serveInvitees(request: ReceivedRequest): Reply {
    const nowMs = server.now.getTime();
    if (bookedAt.filter((ms) => ms > nowMs - MINUTE_MS).length >= BOOKINGS_PER_MINUTE_MAX)
      return {
        ...toError(429, "Too Many Requests"),
        headers: { "X-RateLimit-Limit": "10", "X-RateLimit-Reset": "60" },
      };
    if (request.headers["content-type"] !== "application/json") return fault("invitees: content type");
    const wanted = JSON.parse(request.body);
    const eventType = eventTypes.find(({ uri }) => uri === wanted.event_type);
    if (!eventType) return toError(404, "Resource Not Found");
    if (eventType.pooling_type === "round_robin" && wanted.location !== undefined)
      return toError(400, "Invalid Argument", [
        { parameter: "location", message: "is not allowed for this event type" },
      ]);
    const invalidField = findInvalidField(wanted, eventType);
    if (invalidField !== null) return fault(`invitees: ${invalidField}`);
    bookedAt.push(nowMs);
    const startMs = Date.parse(wanted.start_time);
    const isOffered = toGrid(startMs - (startMs % DAY_MS), eventType.duration).includes(startMs) && startMs > nowMs;
    if (!isOffered) return toError(400, "Invalid Argument", [{ parameter: "start_time", message: "is not available" }]);
    if (isTaken(startMs, eventType.duration))
      return toError(400, "Invalid Argument", [{ parameter: "start_time", code: "already_filled" }]);
    const booking: CalendlyBooking = {
      uuid: `event-${bookings.length + 1}`,
      status: "active",
      start_time: toMicroseconds(startMs),
      end_time: toMicroseconds(startMs + eventType.duration * MINUTE_MS),
      event_type: eventType.uri,
      isOnline: wanted.location?.kind === "zoom_conference",
      links: "https",
      invitee: wanted.invitee,
      questions_and_answers: wanted.questions_and_answers,
      tracking: wanted.tracking,
    };
    bookings.push(booking);
    return { status: 201, json: { resource: toInvitee(booking) } };
  }

  function isTaken(startMs: number, durationMinutes: number): boolean {
    return bookings.some(
      ({ status, start_time, end_time }) =>
        status === "active" &&
        Date.parse(start_time) < startMs + durationMinutes * MINUTE_MS &&
        Date.parse(end_time) > startMs,
    );
  }

  const local = await startLocalServer((request) => {
    const route = `${request.method} /${request.path.split("/")[1] ?? ""}`;
    const injection = injections.get(route)?.shift();
    const usual = injection === undefined || injection.creates ? serve(request) : null;
    injection?.onArrival?.();
    const given = injection?.reply ?? usual ?? "reset";
    if (typeof given === "string") return given;
    return { ...given, headers: { "X-Request-Id": CALENDLY_REQUEST_ID, ...given.headers } };
  });
  const server: CalendlyServer = {
    parts: { settings: { apiUrl: local.url, plan: "paid" }, credentials: { token: TOKEN } },
    bookings,
    webhooks: new CalendlyWebhooks(),
    faults,
    withdrawn: new Set(),
    requests: local.requests,
    isAdmin: true,
    now,
    injectFault: (route, ...next) => injections.set(route, [...(injections.get(route) ?? []), ...next]),
    stop: () => local.stop(),
  };
  return server;
}

type WantedInvitee = Readonly<Record<"invitee" | "tracking", Record<string, unknown>>> & {
  start_time: string;
  location?: Record<string, unknown>;
  questions_and_answers: CalendlyBooking["questions_and_answers"];
};

/** The first field of a new booking that doesn't match the documentation. */
function findInvalidField(wanted: WantedInvitee, eventType: (typeof eventTypes)[number]): string | null {
  const { invitee, tracking, location, questions_and_answers: answers } = wanted;
  const allowed = ["event_type", "invitee", "location", "questions_and_answers", "start_time", "tracking"];
  const enabled = eventType.custom_questions.filter((question) => question.enabled);
  // Each host of a round robin has a location of their own.
  const kinds = eventType.pooling_type === "round_robin" ? [] : (eventType.locations ?? []).map(({ kind }) => kind);
  const checks: Record<string, boolean> = {
    members: Object.keys(wanted).every((key) => allowed.includes(key)),
    start_time: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/.test(wanted.start_time),
    invitee: ["name", "email", "timezone"].every((name) => typeof invitee[name] === "string"),
    tracking: isDeepStrictEqual(Object.keys(tracking).sort(), TRACKING_KEYS),
    location: kinds.length === 0 ? location === undefined : kinds.includes(String(location?.["kind"])),
    place: location?.["kind"] !== "physical" || typeof location["location"] === "string",
    questions: answers.every(({ question, position, answer }) =>
      enabled.some((one) => one.name === question && one.position === position && answer !== ""),
    ),
    required: enabled.every(({ name, required }) => !required || answers.some(({ question }) => question === name)),
  };
  return Object.entries(checks).find(([, isRight]) => !isRight)?.[0] ?? null;
}

function toEvent(booking: CalendlyBooking): object {
  const { uuid, status, start_time, end_time, event_type } = booking;
  const online = { type: "zoom", status: "pushed", join_url: `${booking.links}://zoom.example/j/${uuid}` };
  return {
    uri: `${API}/scheduled_events/${uuid}`,
    status,
    start_time,
    end_time,
    event_type,
    location: booking.isOnline ? online : { type: "physical", location: "Lindenstrasse 1" },
    event_memberships: [{ user: user.uri, user_name: user.name, user_email: user.email }],
  };
}

function toInviteeUri(uuid: string): string {
  return `${API}/scheduled_events/${uuid}/invitees/invitee-${uuid}`;
}

function toInvitee(booking: CalendlyBooking): object {
  const { uuid, status, links, invitee, questions_and_answers, tracking, movedTo } = booking;
  return {
    uri: toInviteeUri(uuid),
    rescheduled: movedTo !== undefined,
    new_invitee: movedTo === undefined ? null : toInviteeUri(movedTo),
    event: `${API}/scheduled_events/${uuid}`,
    status,
    ...invitee,
    questions_and_answers,
    tracking,
    cancel_url: `${links}://calendly.com/cancellations/invitee-${uuid}`,
    reschedule_url: `${links}://calendly.com/reschedulings/invitee-${uuid}`,
  };
}

/** Every half hour from 08:00, while the event ends by 16:00, Monday to Friday. */
function toGrid(dayMs: number, durationMinutes: number): number[] {
  const weekday = new Date(dayMs).getUTCDay();
  if (weekday === 0 || weekday === 6) return [];
  return Array.from({ length: 16 }, (_, index) => dayMs + 8 * HOUR_MS + index * STEP_MS).filter(
    (startMs) => startMs + durationMinutes * MINUTE_MS <= dayMs + 16 * HOUR_MS,
  );
}

export function toError(status: number, title: string, details: object[] = []): Reply {
  return { status, json: { title, message: `${title}.`, details } };
}

function toOne<T>(item: T | undefined, toJson: (item: T) => unknown): Reply {
  return item === undefined ? toError(404, "Resource Not Found") : { status: 200, json: toJson(item) };
}

function toPage(collection: object[]): object {
  return { collection, pagination: { count: collection.length, next_page_token: null } };
}

function toMicroseconds(ms: number): string {
  return new Date(ms).toISOString().replace("Z", "000Z");
}
