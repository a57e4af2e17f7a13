import type { FastifyInstance, FastifyRequest } from "fastify";

import {
  BOOK_BODY_MAX_BYTES,
  BookAnswer,
  type BookRequest,
  type FreeSlot,
  IDEMPOTENCY_KEY_LENGTH_MAX,
} from "#contract/book.ts";
import type { Deps } from "../deps.ts";
import { honourPrivacySignal } from "../funnel/privacy-signal.ts";
import type { VisitReader } from "../funnel/read-visit.ts";
import { ApiError, FieldsError } from "../http/api-error.ts";
import { toClientNetwork } from "../http/client-network.ts";
import { RateLimiter } from "../http/rate-limit.ts";
import { openSchedulingSystem } from "../scheduler/open-system.ts";
import type { OfferedService, SchedulingSystem } from "../scheduler/scheduling-system.ts";
import { requireBookableWidget } from "../widgets/bookable-widget.ts";
import { checkBookRequest, parseBookRequest } from "./check-book-request.ts";
import { makeBooking } from "./make-booking.ts";
import type { PendingTouch } from "./pending-queries.ts";
import { toAttribution } from "./to-attribution.ts";

const LIMITED_KEYS_MAX = 100_000;
const RETRY_SECONDS = "5";
/** After a taken time: fresh ones of that day and the next few. */
const FRESH_SLOT_DAYS = 7;
const DAY_MS = 86_400_000;

type BookDeps = Pick<Deps, "config" | "db" | "clock" | "random" | "log" | "metrics" | "scheduler">;

/** POST /embed-api/{widget}/bookings: the booking itself. */
export async function bookRoutes(app: FastifyInstance, deps: BookDeps, visits: VisitReader): Promise<void> {
  const byNetwork = createLimiter(deps.config.rateLimitBookingsPerMinute);
  const byWidget = createLimiter(deps.config.rateLimitWidgetBookingsPerMinute);

  await app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser("application/json", { parseAs: "string" }, (_request, body, done) => done(null, body));
    scope.post<{ Params: { widget: string }; Body: string | undefined }>(
      "/embed-api/:widget/bookings",
      { bodyLimit: BOOK_BODY_MAX_BYTES, schema: { hide: true, response: { 201: BookAnswer } } },
      async (request, reply) => {
        refuseTooMany(byNetwork?.take(toClientNetwork(request.ip), deps.clock.now()));
        const widget = await requireBookableWidget(deps.db, request.params.widget);
        refuseTooMany(byWidget?.take(widget.id, deps.clock.now()));
        const idempotencyKey = requireIdempotencyKey(request);
        const parsed = parseBookRequest(request.body ?? "");
        if ("fault" in parsed) throw new ApiError("bad_request", parsed.fault);
        if (parsed.request.website) throw new FieldsError({ website: "This field is left empty." });
        if (widget.status === "paused") throw new ApiError("widget_paused", "This widget takes no bookings now.");

        const system = await openSchedulingSystem(deps, widget);
        const service = await findService(system, parsed.request.serviceId);
        const result = checkBookRequest(parsed.request, service);
        if ("fields" in result) throw new FieldsError(result.fields);
        const { checked } = result;
        const attribution = honourPrivacySignal(request.headers, parsed.request.attribution ?? {});
        const visit = visits.read(request, {
          raw: attribution,
          page: parsed.request.page ?? attribution.currentPage ?? "",
          ownHosts: [deps.config.baseUrl, widget.bookingUrl ?? ""],
        });
        const made = await makeBooking(deps, system, {
          owner: widget.organizationId,
          widgetId: widget.id,
          idempotencyKey,
          serviceId: parsed.request.serviceId,
          startAt: checked.startAt,
          staffId: parsed.request.staffId ?? null,
          locale: parsed.request.locale ?? "en",
          touch: toTouch(parsed.request, visit),
          copy: {
            timeZone: checked.timeZone,
            customer: checked.customer,
            answers: checked.answers,
            attribution: toAttribution(attribution, visit),
          },
          isStored: widget.isStored,
        });
        switch (made.kind) {
          case "confirmed":
            return reply.code(201).send(made.answer);
          case "key_reused":
            throw new ApiError("key_reused", "This Idempotency-Key was used for another booking.");
          case "under_way":
            throw unavailable();
          case "failed":
            // Settled: nothing was booked, and the visitor's next try may be a new one, under a new key.
            if (made.failure !== "slot_taken") {
              const refusal = unavailable();
              return reply
                .code(refusal.status)
                .headers(refusal.headers)
                .send({ ...refusal.body, isSettled: true });
            }
            return reply.code(409).send({
              ...new ApiError("slot_taken", "This time has just been taken. Please choose another.").body,
              slots: await listFreshSlots(system, { request: parsed.request, startAt: checked.startAt }),
            });
          default:
            return made satisfies never;
        }
      },
    );
  });
}

function createLimiter(perMinute: number): RateLimiter | null {
  return perMinute > 0 ? new RateLimiter({ perMinute, keysMax: LIMITED_KEYS_MAX }) : null;
}

function refuseTooMany(verdict: ReturnType<RateLimiter["take"]> | undefined): void {
  if (!verdict || verdict.isAllowed) return;
  throw new ApiError("rate_limited", "Too many bookings at once. Please wait a moment.", {
    "retry-after": String(verdict.resetSeconds),
  });
}

function requireIdempotencyKey(request: FastifyRequest): string {
  const key = request.headers["idempotency-key"];
  if (typeof key !== "string" || key.trim() === "" || key.length > IDEMPOTENCY_KEY_LENGTH_MAX)
    throw new ApiError(
      "bad_request",
      `Send a header Idempotency-Key of 1 to ${IDEMPOTENCY_KEY_LENGTH_MAX} characters.`,
    );
  return key;
}

async function findService(system: SchedulingSystem, id: string): Promise<OfferedService | undefined> {
  const services = await system.listServices(new AbortController().signal);
  if (services.kind !== "found") throw unavailable();
  return services.value.find((service) => service.id === id);
}

/** None, rather than an error, where they cannot be had: the visitor is told that the time is taken either way. */
async function listFreshSlots(
  system: SchedulingSystem,
  { request, startAt }: { request: BookRequest; startAt: Date },
): Promise<FreeSlot[]> {
  const from = new Date(startAt.getTime() - DAY_MS / 2);
  const to = new Date(startAt.getTime() + FRESH_SLOT_DAYS * DAY_MS);
  const query = { serviceId: request.serviceId, from, to, staffId: request.staffId ?? null };
  const slots = await system.listSlots(query, new AbortController().signal);
  if (slots.kind !== "found") return [];
  return slots.value.map((slot) => ({
    start: slot.startAt.toISOString(),
    end: slot.endAt.toISOString(),
    staffIds: [...slot.staffIds],
  }));
}

function toTouch(request: BookRequest, visit: ReturnType<VisitReader["read"]>): PendingTouch {
  const { page, source, medium, campaign, channel, device, country } = visit;
  return { visitId: request.visitId.toLowerCase(), page, source, medium, campaign, channel, device, country };
}

function unavailable(): ApiError {
  return new ApiError("scheduler_unavailable", "The booking could not be made. Please try again.", {
    "retry-after": RETRY_SECONDS,
  });
}
