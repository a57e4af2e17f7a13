import { isDeepStrictEqual } from "node:util";
import type { MicrosoftBookingsParts } from "../../../../src/server/scheduler/connections/connection-settings.ts";
import { type ReceivedRequest, type Reply, type Silence, startLocalServer } from "../local-server.ts";
import {
  countSeats,
  findInvalidField,
  findSeatCount,
  type GraphAppointment,
  isTaken,
  toMs,
} from "./graph-appointments.ts";
import { BUSINESS_ID, business, customQuestions, GRAPH_NOW, services, staffMembers } from "./graph-world.ts";

// For tests: Microsoft Graph's bookings as documented, and as users found them to be. It refuses what Graph refuses:
// appointments without staff, a fifth simultaneous request, customers without their type. It doesn't refuse double bookings
// unless told to. Availability is a list of intervals that extend beyond business hours and ignore appointments, except that
// a group with seats left has a status of its own; it comes under two names, in varying case, with zones by id or by title.
// Notes and customers are only included when an appointment is read on its own.

/** The next response of a route instead of its usual one. With `creates`, the appointment is still made. */
export type FaultInjection = { reply: Reply | Silence; creates?: boolean; onArrival?: () => void };

export type GraphServer = {
  readonly parts: MicrosoftBookingsParts;
  readonly appointments: GraphAppointment[];
  /** Requests that Graph would not have understood. */
  readonly faults: string[];
  /** Services that the business has turned off since. */
  readonly withdrawn: Set<string>;
  readonly requests: ReceivedRequest[];
  /** Times when staff have something else in their own calendars. */
  readonly busy: { staffId: string; start: string; end: string }[];
  /** Whether a taken slot is refused, with 500. Graph doesn't promise it. */
  refusesDoubleBookings: boolean;
  /**
   * Whether an appointment must have staff, as seen with application permissions, or must not unless the service allows it.
   * An appointment made without staff has none.
   */
  staffRule: "required" | "only_if_selectable";
  /** Whether the application has permission to cancel. */
  canCancel: boolean;
  /** Answers 429 to this many requests, whichever they are. */
  throttledCount: number;
  /** `POST /appointments`, `GET /calendarView`, `POST token`, … */
  injectFault(route: string, ...injections: FaultInjection[]): void;
  stop(): Promise<void>;
};

const TENANT = "contoso.example";
const CLIENT_ID = "11111111-2222-3333-4444-555555555555";
const CLIENT_SECRET = "s3cr3t~of.the-app";
const BUSINESS_PATH = `/v1.0/solutions/bookingBusinesses/${BUSINESS_ID}`;
const INVALID_STAFF = { status: 400, json: { error: { code: "ErrorInvalidArgument", message: "Invalid Staff" } } };
const AT_ONCE_MAX = 4;
const UNKNOWN_ERROR = { error: { code: "UnknownError", message: "", innerError: {} } };
export const GRAPH_REQUEST_ID = "b1d7f0c2-0000-4000-8000-000000000001";

export async function startGraphServer(): Promise<GraphServer> {
  const faults: string[] = [];
  const appointments: GraphAppointment[] = [];
  const busy: GraphServer["busy"] = [];
  const customers: { id: string; emailAddress: string }[] = [];
  const injections = new Map<string, FaultInjection[]>();
  let tokenCount = 0;
  let availabilityCount = 0;
  let createdCount = 0;
  let atOnceCount = 0;

  const fault = (what: string): Reply => {
    faults.push(what);
    return { status: 400, json: { error: { code: "BadRequest", message: what } } };
  };

  function serveToken(request: ReceivedRequest): Reply {
    const form = Object.fromEntries(new URLSearchParams(request.body));
    const { origin } = new URL(local.url);
    const expected = {
      grant_type: "client_credentials",
      client_id: CLIENT_ID,
      client_secret: CLIENT_SECRET,
      scope: `${origin}/.default`,
    };
    if (request.headers["content-type"] !== "application/x-www-form-urlencoded") return fault("token: content type");
    if (form["client_secret"] !== CLIENT_SECRET) return { status: 401, json: { error: "invalid_client" } };
    if (!isDeepStrictEqual(form, expected)) return fault("token: form");
    tokenCount++;
    return { status: 200, json: { token_type: "Bearer", expires_in: 3599, access_token: `token-${tokenCount}` } };
  }

  function serveGraph(request: ReceivedRequest, route: string): Reply {
    const { method } = request;
    const tokenNumber = Number(request.headers.authorization?.replace("Bearer token-", ""));
    if (!(tokenNumber >= 1 && tokenNumber <= tokenCount)) return { status: 401, json: { error: {} } };
    if (method === "GET" && request.body !== "") return fault(`${route}: a GET with a body`);
    if (method === "POST" && request.headers["content-type"] !== "application/json") return fault(`${route}: type`);
    const [, collection = "", id = "", action] = request.path.slice(BUSINESS_PATH.length).split("/");
    switch (`${method} ${collection}${id === "" ? "" : "/id"}${action === undefined ? "" : `/${action}`}`) {
      case "GET ":
        return { status: 200, json: business };
      case "GET services":
        return {
          status: 200,
          json: {
            value: services
              .filter(({ id }) => !server.withdrawn.has(id))
              .map(({ customQuestions: _, defaultReminders: __, ...listed }) => listed),
          },
        };
      case "GET services/id":
        return toOne(services.find((service) => service.id === id));
      case "GET staffMembers":
        if (request.headers["prefer"] !== "include-unknown-enum-members") return fault("staffMembers: Prefer");
        return { status: 200, json: { value: staffMembers } };
      case "GET customQuestions":
        return { status: 200, json: { value: customQuestions } };
      case "GET calendarView":
        return serveCalendarView(request);
      case "GET appointments/id":
        return toOne(appointments.find((appointment) => appointment.id === id));
      case "POST getStaffAvailability":
        return serveAvailability(request);
      case "GET customers":
        return serveCustomerSearch(request);
      case "POST customers":
        return serveCustomers(request);
      case "POST appointments":
        return serveAppointments(request);
      case "POST appointments/id/cancel":
        if (typeof JSON.parse(request.body).cancellationMessage !== "string") return fault("cancel: body");
        return server.canCancel ? serveRemoval(id) : { status: 403, json: { error: { code: "ErrorAccessDenied" } } };
      case "DELETE appointments/id":
        return serveRemoval(id);
      default:
        return fault(`${route}: no such route`);
    }
  }

  function serveRemoval(id: string): Reply {
    const index = appointments.findIndex((appointment) => appointment.id === id);
    if (index < 0) return { status: 404, json: { error: { code: "ErrorItemNotFound" } } };
    appointments.splice(index, 1);
    return { status: 204 };
  }

  function serveCalendarView({ query }: ReceivedRequest): Reply {
    const { start = "", end = "" } = query;
    const hasForm = isDeepStrictEqual(Object.keys(query).sort(), ["end", "start"]) && [start, end].every(isUtc);
    if (!hasForm) return fault("calendarView: start and end");
    const value = appointments
      .filter((appointment) => toMs(appointment.startDateTime) < Date.parse(end))
      .filter((appointment) => toMs(appointment.endDateTime) > Date.parse(start))
      .map(({ serviceNotes: _, additionalInformation: __, ...listed }) => ({ ...listed, customers: [] }));
    return { status: 200, json: { value } };
  }

  function serveAvailability({ body }: ReceivedRequest): Reply {
    const asked = JSON.parse(body) as Record<string, never> & { staffIds: string[] };
    const [start, end] = [asked["startDateTime"] as never, asked["endDateTime"] as never] as {
      dateTime: string;
      timeZone: string;
    }[];
    const hasForm =
      isDeepStrictEqual(Object.keys(asked).sort(), ["endDateTime", "staffIds", "startDateTime"]) &&
      [start, end].every((time) => time?.timeZone === "UTC" && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$/.test(time.dateTime));
    if (!hasForm || !start || !end) return fault("getStaffAvailability: body");
    availabilityCount++;
    const isOdd = availabilityCount % 2 === 1;
    const items = asked.staffIds.map((staffId) => ({
      staffId,
      availabilityItems: [
        { status: isOdd ? "Available" : "available", startDateTime: start, endDateTime: end, serviceId: null },
        ...busy
          .filter((entry) => entry.staffId === staffId)
          .map((entry) => ({
            status: isOdd ? "Busy" : "busy",
            startDateTime: { dateTime: entry.start, timeZone: isOdd ? "UTC" : "(UTC) Coordinated Universal Time" },
            endDateTime: { dateTime: entry.end, timeZone: isOdd ? "UTC" : "(UTC) Coordinated Universal Time" },
            serviceId: null,
          })),
        ...appointments
          .filter((appointment) => appointment.staffMemberIds.includes(staffId))
          .filter(({ serviceId }) => findSeatCount(serviceId) > 1)
          .map((appointment) => {
            const { serviceId, startDateTime, endDateTime } = appointment;
            const hasSeats = countSeats(appointments, appointment) < findSeatCount(serviceId);
            const status = hasSeats ? (isOdd ? "SlotsAvailable" : "slotsAvailable") : "busy";
            return { status, startDateTime, endDateTime, serviceId };
          }),
      ],
    }));
    return { status: 200, json: isOdd ? { value: items } : { staffAvailabilityItem: items } };
  }

  function serveCustomers({ body }: ReceivedRequest): Reply {
    const customer = JSON.parse(body);
    const keys = Object.keys(customer).sort();
    if (!isDeepStrictEqual(keys, ["@odata.type", "displayName", "emailAddress"])) return fault("customers: body");
    if (customer["@odata.type"] !== "#microsoft.graph.bookingCustomer") return fault("customers: @odata.type");
    const created = { id: `customer-${customers.length + 1}`, ...customer };
    customers.push(created);
    return { status: 201, json: created };
  }

  function serveCustomerSearch({ query }: ReceivedRequest): Reply {
    const email = /^emailAddress eq '((?:[^']|'')+)'$/.exec(query["$filter"] ?? "")?.[1]?.replaceAll("''", "'");
    if (email === undefined) return fault("customers: $filter");
    return { status: 200, json: { value: customers.filter(({ emailAddress }) => emailAddress === email) } };
  }

  function serveAppointments(request: ReceivedRequest): Reply {
    const wanted = JSON.parse(request.body) as GraphAppointment & Record<string, unknown>;
    const service = services.find(({ id }) => id === wanted.serviceId);
    const invalidField = service ? findInvalidField(wanted, service) : "serviceId";
    if (invalidField !== null || !service) return fault(`appointments: ${invalidField}`);
    const allowsChoice = service.schedulingPolicy?.allowStaffSelection ?? business.schedulingPolicy.allowStaffSelection;
    const mustHaveStaff = server.staffRule === "required" || allowsChoice;
    if ((wanted.staffMemberIds === undefined) === mustHaveStaff) return INVALID_STAFF;
    const members = wanted.staffMemberIds ?? [];
    if (!members.every((id) => service.staffMemberIds.includes(id))) return INVALID_STAFF;
    if (server.refusesDoubleBookings && members.some((id) => isTaken(appointments, { staffId: id, wanted })))
      return { status: 500, json: UNKNOWN_ERROR };
    createdCount++;
    const made: GraphAppointment = {
      ...wanted,
      id: `appointment-${createdCount}`,
      staffMemberIds: members,
      filledAttendeesCount: wanted.customers.length,
      createdDateTime: new Date(GRAPH_NOW.getTime() + createdCount).toISOString(),
    };
    // Graph returns times without the offset.
    const [start, end] = [wanted.startDateTime, wanted.endDateTime].map(({ dateTime }) => ({
      dateTime: dateTime.replace("+00:00", ""),
      timeZone: "UTC",
    }));
    appointments.push({ ...made, startDateTime: start ?? made.startDateTime, endDateTime: end ?? made.endDateTime });
    const online = { joinWebUrl: "https://teams.example/join", anonymousJoinWebUrl: "https://teams.example/anonymous" };
    Object.assign(appointments.at(-1) ?? {}, service.isLocationOnline ? online : {}, {
      selfServiceAppointmentId: "00000000-0000-0000-0000-000000000000",
    });
    return { status: 201, json: appointments.at(-1) };
  }

  const local = await startLocalServer(async (request) => {
    atOnceCount++;
    try {
      // Other requests arrive before this one is answered.
      await new Promise(setImmediate);
      return serve(request);
    } finally {
      atOnceCount--;
    }
  });

  function serve(request: ReceivedRequest): Reply | Silence {
    const isToken = request.path === `/${TENANT}/oauth2/v2.0/token`;
    if (!isToken && !request.path.startsWith(BUSINESS_PATH)) return fault(`${request.path}: no such path`);
    if (atOnceCount > AT_ONCE_MAX) faults.push("more than four requests at once");
    if (!isToken && server.throttledCount > 0) {
      server.throttledCount--;
      return { status: 429, headers: { "Retry-After": "0" } };
    }
    const [, collection = ""] = request.path.slice(BUSINESS_PATH.length).split("/");
    const route = isToken ? `${request.method} token` : `${request.method} /${collection}`;
    const injection = injections.get(route)?.shift();
    if (injection === undefined || injection.creates) {
      const usual = isToken ? serveToken(request) : serveGraph(request, route);
      if (injection === undefined) return { ...usual, headers: { "request-id": GRAPH_REQUEST_ID } };
    }
    injection.onArrival?.();
    return typeof injection.reply === "string"
      ? injection.reply
      : { ...injection.reply, headers: { "request-id": GRAPH_REQUEST_ID, ...injection.reply.headers } };
  }

  const server: GraphServer = {
    parts: {
      settings: {
        tenantId: TENANT,
        clientId: CLIENT_ID,
        businessId: BUSINESS_ID,
        graphUrl: `${local.url}/v1.0`,
        loginUrl: local.url,
      },
      credentials: { clientSecret: CLIENT_SECRET },
    },
    appointments,
    faults,
    withdrawn: new Set(),
    busy,
    refusesDoubleBookings: false,
    staffRule: "required",
    canCancel: true,
    throttledCount: 0,
    requests: local.requests,
    injectFault: (route, ...next) => injections.set(route, [...(injections.get(route) ?? []), ...next]),
    stop: () => local.stop(),
  };
  return server;
}

function toOne(item: unknown): Reply {
  return item === undefined
    ? { status: 404, json: { error: { code: "ErrorItemNotFound" } } }
    : { status: 200, json: item };
}

function isUtc(text: string): boolean {
  return /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(text);
}
