import { DAY_MS } from "#contract/durations.ts";
import { type OrganizationId, parseReference, type WidgetId } from "#contract/ids.ts";
import { listAppointments } from "../sandbox/queries.ts";
import { createSandbox } from "../sandbox/sandbox.ts";
import type { OpenDeps } from "../scheduler-deps.ts";
import type { Booked, BookRequest, OfferedService, UnlimitedSystem } from "../scheduling-system.ts";

// A stand-in for Cal.com: the part of its API v2 that Bookflow uses, with a widget's sandbox as the calendar. A booking's uid is
// its reference.

type PracticeOwner = { readonly organizationId: OrganizationId; readonly widgetId: WidgetId };

type PracticeRequest = {
  /** Method and path below `/v2`. */
  readonly route: string;
  readonly query: URLSearchParams;
  readonly json: unknown;
  readonly signal: AbortSignal;
};

type Reply = { readonly status: number; readonly json: object };

type Call = PracticeRequest & {
  readonly db: OpenDeps["db"];
  readonly owner: PracticeOwner;
  readonly calendar: UnlimitedSystem;
  readonly services: readonly OfferedService[];
};

export async function answerAsCalcom(deps: OpenDeps, owner: PracticeOwner, request: PracticeRequest): Promise<Reply> {
  const { baseUrl } = deps.scheduler;
  const calendar = createSandbox({ ...deps, baseUrl }, owner);
  const business = await calendar.verify(request.signal);
  const services = await calendar.listServices(request.signal);
  if (business.kind !== "found" || services.kind !== "found") return NO_CALENDAR;
  const { businessName: name, timeZone } = business.value;
  const call = { ...request, db: deps.db, owner, calendar, services: services.value };
  switch (request.route) {
    case "GET /me":
      return toSuccess(200, { username: owner.widgetId, name, timeZone });
    case "GET /event-types":
      return toSuccess(200, services.value.map(toEventType));
    case "GET /slots":
      return await answerSlots(call);
    case "GET /bookings":
      return await answerBookings(call);
    case "POST /bookings":
      return await answerBook(call);
    default:
      return await answerCancel(call);
  }
}

async function answerSlots({ calendar, query, services, signal }: Call): Promise<Reply> {
  const service = findService(services, Number(query.get("eventTypeId")));
  const [from, end] = [new Date(query.get("start") ?? ""), new Date(query.get("end") ?? "")];
  if (!service || Number.isNaN(from.getTime() + end.getTime())) return toError(400, "BadRequestException", "Bad query");
  const range = { from, to: new Date(end.getTime() + DAY_MS) };
  const slots = await calendar.listSlots({ serviceId: service.id, staffId: null, ...range }, signal);
  if (slots.kind !== "found") return NO_CALENDAR;
  const shown = slots.value.map(({ startAt, endAt }) => ({ start: startAt.toISOString(), end: endAt.toISOString() }));
  return toSuccess(
    200,
    Object.groupBy(shown, ({ start }) => start.slice(0, 10)),
  );
}

async function answerBookings({ db, owner, calendar, query, services, signal }: Call): Promise<Reply> {
  const service = findService(services, Number(query.get("eventTypeId")));
  if (!service) return toSuccess(200, []);
  const rows = await listAppointments(db, owner.organizationId, {
    widgetId: owner.widgetId,
    from: new Date(query.get("afterStart") ?? 0),
    to: new Date(query.get("beforeEnd") ?? 0),
  });
  const bookings: object[] = [];
  for (const { reference, service_id: serviceId, start_at: startAt } of rows) {
    if (serviceId !== service.id) continue;
    const found = await calendar.findByReference({ reference, serviceId, startAt }, signal);
    if (found.kind === "found") bookings.push(toBooking(services, reference, found.value));
  }
  return toSuccess(200, bookings);
}

/** What our own adapter sends; see calcom/booking-body.ts. */
type BookBody = {
  readonly eventTypeId: number;
  readonly start: string;
  readonly attendee: { name: string; email: string; timeZone: string; language?: string };
  readonly bookingFieldsResponses: Readonly<Record<string, string>>;
  readonly metadata: { readonly reference: string };
};

async function answerBook({ calendar, services, json, signal }: Call): Promise<Reply> {
  const { eventTypeId, start, attendee, bookingFieldsResponses, metadata } = json as BookBody;
  const service = findService(services, eventTypeId);
  const reference = parseReference(metadata.reference);
  if (!service || !reference) return toError(404, "NotFoundException", "Event type not found");
  const request: BookRequest = {
    reference,
    serviceId: service.id,
    startAt: new Date(start),
    staffId: null,
    customer: { ...attendee, phone: null, notes: null, locale: attendee.language ?? "en" },
    answers: service.questions.flatMap(({ id, label }) => {
      const answer = bookingFieldsResponses[id];
      return answer === undefined ? [] : [{ questionId: id, question: label, answer }];
    }),
  };
  const outcome = await calendar.book(request, signal);
  if (outcome.kind === "booked") return toSuccess(201, toBooking(services, reference, outcome.booked));
  if (outcome.kind === "slot_taken")
    return toError(400, "BadRequestException", "User either already has booking at this time or is not available");
  return toError(500, "InternalServerErrorException", outcome.kind);
}

async function answerCancel({ route, calendar, signal }: Call): Promise<Reply> {
  const uid = /^POST \/bookings\/([^/]+)\/cancel$/.exec(route)?.[1] ?? "";
  const reference = parseReference(decodeURIComponent(uid));
  if (!reference) return toError(404, "NotFoundException", `Cannot ${route}`);
  await calendar.cancel({ externalId: reference, reference }, signal);
  return toSuccess(200, { uid: reference, status: "cancelled", start: "", end: "" });
}

/** Event types have numbers: the first service is 101. */
const FIRST_EVENT_TYPE = 101;

function findService(services: readonly OfferedService[], eventTypeId: number): OfferedService | null {
  return services[eventTypeId - FIRST_EVENT_TYPE] ?? null;
}

export function toEventTypeId(services: readonly { readonly id: string }[], serviceId: string): number {
  return FIRST_EVENT_TYPE + services.findIndex(({ id }) => id === serviceId);
}

function toEventType(service: OfferedService, index: number): object {
  return {
    id: FIRST_EVENT_TYPE + index,
    title: service.name,
    slug: service.id,
    description: service.description ?? "",
    lengthInMinutes: service.durationMinutes,
    bookingFields: service.questions.map(({ id, label, type, options, required }) => ({
      isDefault: false,
      type: type === "choice" ? "radio" : "text",
      slug: id,
      label,
      options,
      required,
      hidden: false,
    })),
    locations: [service.isOnline ? { type: "integration", integration: "cal-video" } : { type: "address" }],
    hidden: false,
    price: 0,
    confirmationPolicy: { disabled: true },
    recurrence: null,
    seats: { disabled: true },
  };
}

function toBooking(services: readonly OfferedService[], reference: string, booked: Booked): object {
  return {
    uid: reference,
    status: "accepted",
    start: booked.startAt.toISOString(),
    end: booked.endAt.toISOString(),
    eventTypeId: toEventTypeId(services, booked.service.id),
    hosts: booked.staff,
    metadata: { reference },
  };
}

const NO_CALENDAR = toError(500, "InternalServerErrorException", "No calendar");

function toSuccess(status: number, data: object): Reply {
  return { status, json: { status: "success", data } };
}

function toError(status: number, code: string, message: string): Reply {
  return { status, json: { status: "error", error: { code, message } } };
}
