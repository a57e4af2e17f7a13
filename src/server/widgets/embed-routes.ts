import type { FastifyInstance } from "fastify";
import { DAY_MS } from "#contract/durations.ts";
import { SLOT_RANGE_DAYS_MAX } from "#contract/scheduling.ts";
import { ConfigResponse, SlotsResponse } from "#contract/widgets/embed-api.ts";
import type { Mode } from "#contract/widgets/widget.ts";
import type { Deps } from "../deps.ts";
import { ApiError, notFound } from "../http/errors/api-error.ts";
import { badParameter, type Query, readInstant, readParameter } from "../http/parameters.ts";
import {
  type Failure,
  found,
  type OfferedService,
  openForVisitor,
  type SchedulerDeps,
  type SchedulingSystem,
  type SlotQuery,
  toFreeSlot,
} from "../scheduler/scheduler.ts";
import { limitWidgetRoute } from "./bookable-widget.ts";
import { applyOffer, limitSlots, toOfferedStaff } from "./offer.ts";
import type { BookableWidget } from "./queries.ts";
import { directPageUrl, toLogoPath } from "./to-widget.ts";

type EmbedDeps = Pick<Deps, "config" | "db" | "clock" | "random" | "log"> & { readonly scheduler: SchedulerDeps };

const TOO_MANY = "Too many requests. Please wait a moment.";

export function embedRoutes(app: FastifyInstance, deps: EmbedDeps): void {
  const { config } = deps;
  const configGuard = limitWidgetRoute(deps, {
    perNetwork: config.rateLimitConfigPerMinute,
    perWidget: config.rateLimitWidgetConfigPerMinute,
    message: TOO_MANY,
  });
  const slotsGuard = limitWidgetRoute(deps, {
    perNetwork: config.rateLimitSlotsPerMinute,
    perWidget: config.rateLimitWidgetSlotsPerMinute,
    message: TOO_MANY,
  });

  app.get<{ Params: { widget: string } }>(
    "/embed-api/:widget/config",
    { schema: { hide: true, response: { 200: ConfigResponse } } },
    async (request) => {
      const widget = await configGuard.requireWidget(request);
      configGuard.limitWidget(request, widget);
      const system = await openForVisitor(deps, request, widget);
      // A paused widget needs no services. The business may have paused it because the system is down.
      const services = widget.status === "paused" ? found([]) : await system.listServices();
      if (services.kind !== "found") throw toUnavailable(services);
      const offered = applyOffer(services.value, widget.offer);
      return toConfig(widget, { services: offered, mode: system.mode, baseUrl: config.baseUrl });
    },
  );

  app.get<{ Params: { widget: string } }>(
    "/embed-api/:widget/slots",
    { schema: { hide: true, response: { 200: SlotsResponse } } },
    async (request) => {
      const widget = await slotsGuard.requireWidget(request);
      const query = readSlotQuery(request.query as Query);
      slotsGuard.limitWidget(request, widget);
      if (widget.status === "paused") return { slots: [] };
      const system = await openForVisitor(deps, request, widget);
      const offered = await findOffered(system, widget, query);
      const slots = await system.listSlots(query);
      if (slots.kind === "refused" && slots.reason === "invalid" && query.staffId !== null) throw notBookable();
      if (slots.kind !== "found") throw toUnavailable(slots);
      return { slots: limitSlots(slots.value, offered).map(toFreeSlot) };
    },
  );
}

/** The people whose times are offered; null: everybody's. Services that the widget doesn't offer are not found. */
async function findOffered(
  system: SchedulingSystem,
  { offer }: BookableWidget,
  { serviceId, staffId }: SlotQuery,
): Promise<readonly string[] | null> {
  if (offer === null) return null;
  const services = await system.listServices();
  if (services.kind !== "found") throw toUnavailable(services);
  const service = applyOffer(services.value, offer).find(({ id }) => id === serviceId);
  if (!service) throw notFound("Service");
  const offered = toOfferedStaff(offer, service);
  if (offered !== null && staffId !== null && !offered.includes(staffId)) throw notBookable();
  return offered;
}

function notBookable(): ApiError {
  return badParameter("staff", "must be someone who can be booked for this service");
}

function readSlotQuery(query: Query): SlotQuery {
  const [serviceId, staffId] = [readParameter(query, "service"), readParameter(query, "staff")];
  const [from, to] = [readInstant(query, "from", "down"), readInstant(query, "to", "up")];
  if (serviceId === null) throw badParameter("service", "is missing");
  if (!from) throw badParameter("from", "is missing");
  if (!to) throw badParameter("to", "is missing");
  if (to <= from) throw badParameter("to", "must be after from");
  if (to.getTime() - from.getTime() > SLOT_RANGE_DAYS_MAX * DAY_MS)
    throw badParameter("to", `must not be more than ${SLOT_RANGE_DAYS_MAX} days after from`);
  return { serviceId, from, to, staffId };
}

function toConfig(
  widget: BookableWidget,
  { services, mode, baseUrl }: { services: readonly OfferedService[]; mode: Mode; baseUrl: string },
): ConfigResponse {
  return {
    widget: {
      id: widget.id,
      name: widget.name,
      businessName: widget.businessName,
      template: widget.template,
      accentColor: widget.accentColor,
      status: widget.status,
      isTest: mode !== "live",
      bookingUrl: widget.bookingUrl ?? directPageUrl(baseUrl, widget.id),
      logoUrl: widget.logoUpdatedAt && toLogoPath(widget.organizationId, widget.logoUpdatedAt),
      hourCycle: widget.options.hourCycle,
      locksTimeZone: widget.options.locksTimeZone,
      thankYouUrl: widget.options.thankYouUrl,
      privacyUrl: widget.options.privacyUrl,
    },
    timeZone: widget.timeZone,
    services: services.map((service) => ({
      id: service.id,
      name: service.name,
      durationMinutes: service.durationMinutes,
      ...(service.description === null ? {} : { description: service.description }),
      isOnline: service.isOnline,
      ...(service.phoneRequired ? { phoneRequired: true } : {}),
      staffSelectable: service.staffSelectable,
      staff: service.staff.map(({ id, name }) => ({ id, name })),
      questions: service.questions.map(({ id, label, type, options, required }) => ({
        id,
        label,
        type,
        required,
        ...(options.length > 0 ? { options: [...options] } : {}),
      })),
    })),
  };
}

function toUnavailable(failure: Failure): ApiError {
  if (failure.kind === "refused" && failure.reason === "not_found") return notFound("Service");
  if (failure.kind === "unavailable" && failure.overLimit === "visitor")
    return new ApiError("rate_limited", TOO_MANY, { "retry-after": "60" });
  return new ApiError("scheduler_unavailable", "The scheduling system can't be reached. Please try again.", {
    "retry-after": "5",
  });
}
