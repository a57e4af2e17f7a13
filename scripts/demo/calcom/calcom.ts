import type { IncomingMessage, RequestListener } from "node:http";
import { text } from "node:stream/consumers";
import { DAY_MS } from "#contract/durations.ts";
import { parseReference } from "#contract/ids.ts";
import type { ServiceDeps } from "../../../src/server/create-deps.ts";
import type { Db } from "../../../src/server/db/pool.ts";
import { DEMO_ID, DEMO_ZONE } from "../../../src/server/demo/practice.ts";
import { createSandbox } from "../../../src/server/scheduler/sandbox/sandbox.ts";
import type { Booked, BookRequest, UnlimitedSystem } from "../../../src/server/scheduler/scheduling-system.ts";
import { answerPage } from "./booking-page.ts";
import { findService, PRACTICE_USERS, type PracticeUser, toEventType, toEventTypeId } from "./practice-user.ts";

// The demo's stand-in for Cal.com: the part of its API v2 that Bookflow uses, with the sandboxes as calendars. A booking's uid is
// its reference.

type Reply = { readonly status: number; readonly json: object };
type Call = {
  readonly db: Db;
  readonly user: PracticeUser;
  readonly calendar: UnlimitedSystem;
  readonly query: URLSearchParams;
  readonly body: string;
};

export function serveCalcom(deps: ServiceDeps): RequestListener {
  const calendarOf = ({ calendar }: PracticeUser) =>
    createSandbox({ ...deps, baseUrl: deps.config.baseUrl }, { organizationId: DEMO_ID, widgetId: calendar.id });
  return async (request, response) => {
    const url = new URL(request.url ?? "/", "http://calcom");
    if (!url.pathname.startsWith("/v2/")) return answerPage(deps.db, { request, response, calendarOf });
    const user = PRACTICE_USERS.find(({ apiKey }) => request.headers.authorization === `Bearer ${apiKey}`);
    const reply = user
      ? await answer(`${request.method} ${url.pathname.slice("/v2".length)}`, {
          db: deps.db,
          user,
          calendar: calendarOf(user),
          query: url.searchParams,
          body: await readBody(request),
        })
      : toError(401, "UnauthorizedException", "Invalid API Key");
    response.writeHead(reply.status, { "content-type": "application/json" }).end(JSON.stringify(reply.json));
  };
}

async function readBody(request: IncomingMessage): Promise<string> {
  return request.method === "POST" ? await text(request) : "";
}

async function answer(route: string, call: Call): Promise<Reply> {
  const { user } = call;
  if (route === "GET /me") return toSuccess(200, { username: user.calendar.id, name: user.name, timeZone: DEMO_ZONE });
  if (route === "GET /event-types")
    return toSuccess(
      200,
      user.calendar.setup.services.map((service) => toEventType(user, service)),
    );
  if (route === "GET /slots") return await answerSlots(call);
  if (route === "GET /bookings") return await answerBookings(call);
  if (route === "POST /bookings") return await answerBook(call);
  const cancel = /^POST \/bookings\/([^/]+)\/cancel$/.exec(route);
  const reference = cancel && parseReference(decodeURIComponent(cancel[1] ?? ""));
  if (!reference) return toError(404, "NotFoundException", `Cannot ${route}`);
  await call.calendar.cancel({ externalId: reference, reference }, NEVER);
  return toSuccess(200, { uid: reference, status: "cancelled", start: "", end: "" });
}

async function answerSlots({ user, calendar, query }: Call): Promise<Reply> {
  const service = findService(user, Number(query.get("eventTypeId")));
  const [from, end] = [new Date(query.get("start") ?? ""), new Date(query.get("end") ?? "")];
  if (!service || Number.isNaN(from.getTime() + end.getTime())) return toError(400, "BadRequestException", "Bad query");
  const range = { from, to: new Date(end.getTime() + DAY_MS) };
  const slots = await calendar.listSlots({ serviceId: service.id, staffId: null, ...range }, NEVER);
  if (slots.kind !== "found") return toError(500, "InternalServerErrorException", "No calendar");
  const shown = slots.value.map(({ startAt, endAt }) => ({ start: startAt.toISOString(), end: endAt.toISOString() }));
  return toSuccess(
    200,
    Object.groupBy(shown, ({ start }) => start.slice(0, 10)),
  );
}

async function answerBookings({ db, user, calendar, query }: Call): Promise<Reply> {
  const service = findService(user, Number(query.get("eventTypeId")));
  if (!service) return toSuccess(200, []);
  const rows = await db
    .selectFrom("sandbox_appointments")
    .select(["reference", "start_at"])
    .where("organization_id", "=", DEMO_ID)
    .where("widget_id", "=", user.calendar.id)
    .where("service_id", "=", service.id)
    .where("start_at", ">=", new Date(query.get("afterStart") ?? 0))
    .where("end_at", "<=", new Date(query.get("beforeEnd") ?? 0))
    .execute();
  const bookings: object[] = [];
  for (const { reference, start_at: startAt } of rows) {
    const found = await calendar.findByReference({ reference, serviceId: service.id, startAt }, NEVER);
    if (found.kind === "found") bookings.push(toBooking(user, reference, found.value));
  }
  return toSuccess(200, bookings);
}

async function answerBook({ user, calendar, body }: Call): Promise<Reply> {
  const { eventTypeId, start, attendee, bookingFieldsResponses, metadata } = JSON.parse(body);
  const service = findService(user, eventTypeId);
  const reference = parseReference(metadata.reference);
  if (!service || !reference) return toError(404, "NotFoundException", "Event type not found");
  const request: BookRequest = {
    reference,
    serviceId: service.id,
    startAt: new Date(start),
    staffId: null,
    customer: { ...attendee, phone: null, notes: null, locale: attendee.language ?? "en" },
    answers: service.questions.flatMap(({ id, label }) =>
      bookingFieldsResponses[id] === undefined
        ? []
        : [{ questionId: id, question: label, answer: bookingFieldsResponses[id] }],
    ),
  };
  const outcome = await calendar.book(request, NEVER);
  if (outcome.kind === "booked") return toSuccess(201, toBooking(user, reference, outcome.booked));
  if (outcome.kind === "slot_taken")
    return toError(400, "BadRequestException", "User either already has booking at this time or is not available");
  return toError(500, "InternalServerErrorException", outcome.kind);
}

function toBooking(user: PracticeUser, reference: string, { startAt, endAt, service, staff }: Booked): object {
  return {
    uid: reference,
    status: "accepted",
    start: startAt.toISOString(),
    end: endAt.toISOString(),
    eventTypeId: toEventTypeId(user, service.id),
    hosts: staff,
    metadata: { reference },
  };
}

const NEVER = new AbortController().signal;

function toSuccess(status: number, data: object): Reply {
  return { status, json: { status: "success", data } };
}

function toError(status: number, code: string, message: string): Reply {
  return { status, json: { status: "error", error: { code, message } } };
}
