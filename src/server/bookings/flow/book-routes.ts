import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { type Attribution, type RawAttribution, RawAttribution as RawFields } from "#contract/analytics/attribution.ts";
import { NOT_SET } from "#contract/analytics/dimensions.ts";
import { DAY_MS } from "#contract/durations.ts";
import {
  BOOK_BODY_MAX_BYTES,
  BookRefusal,
  type BookRequest,
  BookResponse,
  type FreeSlot,
} from "#contract/widgets/embed-api.ts";
import {
  ATTRIBUTION_TEXT_MAX,
  honourPrivacySignal,
  type ReadVisit,
  readAttribution,
  redactAttribution,
  type VisitClass,
  type VisitReader,
} from "../../analytics/analytics.ts";
import type { Deps } from "../../deps.ts";
import { ApiError, FieldsError, notFound } from "../../http/errors/api-error.ts";
import { requireIdempotencyKey } from "../../http/idempotency-key.ts";
import { assert } from "../../lib/assert.ts";
import { parseTimeZone } from "../../lib/time/calendar.ts";
import { parseIsoInstant } from "../../lib/time/iso-instant.ts";
import {
  type OfferedService,
  openForVisitor,
  type SchedulerDeps,
  type SchedulingSystem,
  toFreeSlot,
} from "../../scheduler/scheduler.ts";
import {
  applyOffer,
  type BookableWidget,
  limitSlots,
  limitWidgetRoute,
  toOfferedStaff,
} from "../../widgets/widgets.ts";
import { type CheckedRequest, checkBookRequest, parseBookRequest } from "./check-book-request.ts";
import { makeBooking, type WantedBooking } from "./make-booking.ts";
import type { PendingHit } from "./pending-queries.ts";
import { abandonBooking, type MadeBooking, type RepeatedBooking, respondAgain } from "./repeat-booking.ts";
import { Settler } from "./settler.ts";

const RETRY_SECONDS = "5";
/** How many days of available times a `slot_taken` response offers instead. */
const FRESH_SLOT_DAYS = 7;

type BookDeps = Pick<Deps, "config" | "db" | "clock" | "random" | "log" | "metrics"> & {
  readonly scheduler: SchedulerDeps;
};

type BookingPost = FastifyRequest<{ Params: { widget: string }; Body: string | undefined }>;

export async function bookRoutes(app: FastifyInstance, deps: BookDeps, visits: VisitReader): Promise<void> {
  const guard = limitWidgetRoute(deps, {
    perNetwork: deps.config.rateLimitBookingsPerMinute,
    perWidget: deps.config.rateLimitWidgetBookingsPerMinute,
    message: "Too many bookings at once. Please wait a moment.",
  });
  await app.register(async (scope) => {
    const settler = new Settler(deps);
    scope.addHook("onClose", () => settler.close());
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser("application/json", { parseAs: "string" }, (_request, body, done) => done(null, body));
    scope.post<{ Params: { widget: string }; Body: string | undefined }>(
      "/embed-api/:widget/bookings",
      { bodyLimit: BOOK_BODY_MAX_BYTES, schema: { hide: true, response: { 201: BookResponse, default: BookRefusal } } },
      async (post, reply) => {
        const widget = await guard.requireWidget(post);
        const idempotencyKey = requireIdempotencyKey(post);
        const request = requireBookRequest(post.body ?? "");
        const system = await openForVisitor(deps, post, widget);
        const bookable = await checkBookable(system, widget, request);
        if (bookable instanceof ApiError) {
          const repeated = toRepeated(widget, request, idempotencyKey);
          const made =
            repeated && (await respondToRefused({ ...deps, settler }, system, { repeated, refusal: bookable }));
          if (!made) throw bookable;
          return await sendOutcome(reply, made, async () => []);
        }
        guard.limitWidget(post, widget);
        const origin = readOrigin(deps, visits, { post, request, widget });
        const wanted = { idempotencyKey, ...toWanted({ widget, request, bookable, origin }) };
        const made = await makeBooking({ ...deps, settler }, system, wanted);
        return await sendOutcome(reply, made, () => findFreshSlots(system, wanted));
      },
    );
  });
}

function requireBookRequest(body: string): BookRequest {
  const parsed = parseBookRequest(body);
  if ("fault" in parsed) throw new ApiError("bad_request", parsed.fault);
  if (parsed.request.website) throw new FieldsError({ website: "This field must be left empty." });
  return parsed.request;
}

type Bookable = { checked: CheckedRequest; service: OfferedService };

/** The checked request and its service, or why nothing new can be booked with it. */
async function checkBookable(
  system: SchedulingSystem,
  { status, offer }: BookableWidget,
  request: BookRequest,
): Promise<Bookable | ApiError> {
  if (request.isAbandoned) return unavailable();
  if (status === "paused") return paused();
  if (request.isTest !== undefined && request.isTest !== (system.mode !== "live"))
    return new ApiError("widget_changed", "This widget was switched between test mode and live. Reload the page.");
  const services = await system.listServices();
  if (services.kind !== "found") return unavailable();
  const service = applyOffer(services.value, offer).find(({ id }) => id === request.serviceId);
  const result = checkBookRequest(request, service);
  if ("fields" in result) return new FieldsError(result.fields);
  assert(service, "an unknown service is a fault");
  return { checked: result.checked, service };
}

/**
 * The refusal is for new bookings: the first request with this key may have led to a booking, which must not be made again.
 * While the scheduling system is unavailable, the visitor is told that nothing was booked and may choose again, so an earlier
 * request that arrives later must not be booked either. Null: the refusal is the response.
 */
async function respondToRefused(
  deps: BookDeps & { readonly settler: Settler },
  system: SchedulingSystem,
  { repeated, refusal }: { repeated: RepeatedBooking; refusal: ApiError },
): Promise<MadeBooking | null> {
  if (refusal.code === "scheduler_unavailable") return await abandonBooking(deps, system, repeated);
  const made = await respondAgain(deps, system, repeated);
  return made.kind === "confirmed" || made.kind === "uncertain" ? made : null;
}

/** Null if it can't repeat a request that was accepted. */
function toRepeated(
  { organizationId, id, connectionId }: BookableWidget,
  { visitId, serviceId, start, timeZone, isAbandoned }: BookRequest,
  idempotencyKey: string,
): RepeatedBooking | null {
  const [startAt, zone] = [parseIsoInstant(start, "down"), parseTimeZone(timeZone)];
  if (startAt === null || zone === null) return null;
  const booking = { owner: organizationId, widgetId: id, connectionId, idempotencyKey, serviceId, startAt };
  // A visitor who gives up asks about this request only.
  return { ...booking, copy: { timeZone: zone }, ...(!isAbandoned && { hit: { visitId: visitId.toLowerCase() } }) };
}

function readOrigin(
  deps: Pick<BookDeps, "config">,
  visits: VisitReader,
  { post, request, widget }: { post: BookingPost; request: BookRequest; widget: BookableWidget },
): Origin {
  const sent = redactAttribution(readAttribution(request.attribution));
  const raw = honourPrivacySignal(post.headers, sent);
  const page = readPage(request.page) ?? sent.currentPage ?? "";
  const ownHosts = [deps.config.baseUrl, widget.bookingUrl ?? ""];
  return { raw, visit: visits.read(post, { raw: sent, page, ownHosts }) };
}

function readPage(page: unknown): string | null {
  return typeof page === "string" && page !== "" ? page.slice(0, ATTRIBUTION_TEXT_MAX) : null;
}

type Origin = { raw: RawAttribution; visit: ReadVisit };

function toWanted({
  widget,
  request,
  bookable,
  origin,
}: {
  widget: BookableWidget;
  request: BookRequest;
  bookable: Bookable;
  origin: Origin;
}): Omit<WantedBooking, "idempotencyKey"> {
  const { startAt, timeZone, customer, answers } = bookable.checked;
  return {
    owner: widget.organizationId,
    widgetId: widget.id,
    connectionId: widget.connectionId,
    serviceId: request.serviceId,
    startAt,
    staffId: request.staffId ?? null,
    offeredStaffIds: toOfferedStaff(widget.offer, bookable.service),
    locale: request.locale ?? "en",
    hit: toHit(request, origin.visit),
    copy: { timeZone, customer, answers, attribution: toAttribution(origin.raw, origin.visit) },
  };
}

async function sendOutcome(
  reply: FastifyReply,
  made: MadeBooking,
  listFreshSlots: () => Promise<FreeSlot[]>,
): Promise<FastifyReply> {
  switch (made.kind) {
    case "confirmed":
      return reply.code(201).send(made.response);
    case "key_reused":
      throw new ApiError("key_reused", "This Idempotency-Key was used for another booking.");
    case "uncertain":
      throw uncertain();
    case "closed":
      throw made.status === "paused" ? paused() : notFound("Widget");
    case "failed":
      return made.failure === "slot_taken" ? sendSlotTaken(reply, await listFreshSlots()) : sendFailed(reply);
    default:
      return made satisfies never;
  }
}

function sendSlotTaken(reply: FastifyReply, slots: FreeSlot[]): FastifyReply {
  const refusal = new ApiError("slot_taken", "This time has just been taken. Please choose another.");
  return reply.code(refusal.status).send({ ...refusal.body, slots } satisfies BookRefusal);
}

function sendFailed(reply: FastifyReply): FastifyReply {
  const refusal = unavailable();
  return reply
    .code(refusal.status)
    .headers(refusal.headers)
    .send({ ...refusal.body, isSettled: true } satisfies BookRefusal);
}

/** Empty when the scheduling system cannot list them: the visitor still learns that the slot is taken. */
async function findFreshSlots(
  system: SchedulingSystem,
  { serviceId, staffId, offeredStaffIds, startAt }: WantedBooking,
): Promise<FreeSlot[]> {
  const from = new Date(startAt.getTime() - DAY_MS / 2);
  const to = new Date(startAt.getTime() + FRESH_SLOT_DAYS * DAY_MS);
  const slots = await system.listSlots({ serviceId, staffId, from, to });
  return slots.kind === "found" ? limitSlots(slots.value, offeredStaffIds).map(toFreeSlot) : [];
}

function toHit(request: BookRequest, visit: ReadVisit): PendingHit {
  const { page, source, medium, campaign, channel, device, country } = visit;
  return { visitId: request.visitId.toLowerCase(), page, source, medium, campaign, channel, device, country };
}

function paused(): ApiError {
  return new ApiError("widget_paused", "This widget is paused. Ask the business to activate it.");
}

function uncertain(): ApiError {
  const message =
    "The booking isn't confirmed yet. Send the same request again to learn the outcome; nothing is booked twice.";
  return new ApiError("booking_uncertain", message, { "retry-after": RETRY_SECONDS });
}

function unavailable(): ApiError {
  return new ApiError("scheduler_unavailable", "The booking couldn't be completed. Please try again.", {
    "retry-after": RETRY_SECONDS,
  });
}

/** The loader's raw fields and our classification, without absent fields. */
function toAttribution(raw: RawAttribution, visit: VisitClass & { page: string }): Attribution {
  const kept: Record<string, string | number> = {
    source: visit.source,
    medium: visit.medium,
    ...(visit.campaign === NOT_SET ? {} : { campaign: visit.campaign }),
    channel: visit.channel,
    ...(visit.page === "" ? {} : { pageUrl: visit.page }),
  };
  for (const name of Object.keys(RawFields.properties) as (keyof RawAttribution)[]) {
    const value = raw[name];
    if (typeof value === "number") kept[name] = value;
    // A privacy signal rewrites addresses, which may make them longer.
    else if (value !== undefined && value !== "") kept[name] = value.slice(0, ATTRIBUTION_TEXT_MAX).toWellFormed();
  }
  const firstSeenAt = raw.firstSeenAt === undefined ? null : parseIsoInstant(raw.firstSeenAt, "down");
  // An offset can lead beyond the years of four digits, the only ones that the contract's timestamps have.
  if (firstSeenAt && firstSeenAt.getUTCFullYear() <= 9999) kept["firstSeenAt"] = firstSeenAt.toISOString();
  else delete kept["firstSeenAt"];
  // Every name is one of the contract's, and only `touches` is a number.
  return kept as Attribution;
}
