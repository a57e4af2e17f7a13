import type { FastifyInstance } from "fastify";
import { ConfigAnswer, SlotsAnswer } from "#contract/book.ts";
import { SLOT_RANGE_DAYS_MAX } from "#contract/scheduling.ts";
import type { Deps } from "../deps.ts";
import { ApiError } from "../http/api-error.ts";
import { badParameter, type Query, readInstant, readParameter } from "../http/parameters.ts";
import { openSchedulingSystem } from "../scheduler/open-system.ts";
import type { Failure, OfferedService } from "../scheduler/scheduling-system.ts";
import { type BookableWidget, requireBookableWidget } from "./bookable-widget.ts";
import { directPageUrl } from "./to-widget.ts";

const DAY_MS = 86_400_000;

type EmbedDeps = Pick<Deps, "config" | "db" | "clock" | "random" | "log" | "scheduler">;

/** GET /embed-api/{widget}/config and /slots: what the booking frame shows. */
export function embedRoutes(app: FastifyInstance, deps: EmbedDeps): void {
  app.get<{ Params: { widget: string } }>(
    "/embed-api/:widget/config",
    { schema: { hide: true, response: { 200: ConfigAnswer } } },
    async (request) => {
      const widget = await requireBookableWidget(deps.db, request.params.widget);
      const system = await openSchedulingSystem(deps, widget);
      const services = await system.listServices(new AbortController().signal);
      if (services.kind !== "found") throw toUnavailable(services);
      return toConfig(widget, services.value, deps.config.baseUrl);
    },
  );

  app.get<{ Params: { widget: string } }>(
    "/embed-api/:widget/slots",
    { schema: { hide: true, response: { 200: SlotsAnswer } } },
    async (request) => {
      const query = request.query as Query;
      const [serviceId, staffId] = [readParameter(query, "service"), readParameter(query, "staff")];
      const [from, to] = [readInstant(query, "from", "down"), readInstant(query, "to", "up")];
      if (serviceId === null) throw badParameter("service", "is missing");
      if (!from) throw badParameter("from", "is missing");
      if (!to) throw badParameter("to", "is missing");
      if (to.getTime() - from.getTime() > SLOT_RANGE_DAYS_MAX * DAY_MS)
        throw badParameter("to", `must not be more than ${SLOT_RANGE_DAYS_MAX} days after from`);
      const widget = await requireBookableWidget(deps.db, request.params.widget);
      if (widget.status === "paused") return { slots: [] };
      const system = await openSchedulingSystem(deps, widget);
      const slots = await system.listSlots({ serviceId, from, to, staffId }, new AbortController().signal);
      if (slots.kind !== "found") throw toUnavailable(slots);
      return {
        slots: slots.value.map((slot) => ({
          start: slot.startAt.toISOString(),
          end: slot.endAt.toISOString(),
          staffIds: [...slot.staffIds],
        })),
      };
    },
  );
}

function toConfig(widget: BookableWidget, services: readonly OfferedService[], baseUrl: string): ConfigAnswer {
  return {
    widget: {
      id: widget.id,
      name: widget.name,
      businessName: widget.businessName,
      template: widget.template,
      accentColor: widget.accentColor,
      status: widget.status,
      bookingUrl: widget.bookingUrl ?? directPageUrl(baseUrl, widget.id),
    },
    timeZone: widget.timeZone,
    services: services.map((service) => ({
      id: service.id,
      name: service.name,
      durationMinutes: service.durationMinutes,
      ...(service.description === null ? {} : { description: service.description }),
      isOnline: service.isOnline,
      staffSelectable: service.staffSelectable,
      staff: service.staff.map(({ id, name }) => ({ id, name })),
      questions: service.questions.map(({ id, label, type, options, required }) => ({
        id,
        label,
        type,
        required,
        ...(type === "choice" ? { options: [...options] } : {}),
      })),
    })),
  };
}

function toUnavailable(failure: Failure): ApiError {
  if (failure.kind === "refused" && failure.reason === "not_found")
    return new ApiError("not_found", "There is no such service.");
  return new ApiError("scheduler_unavailable", "The scheduling system cannot be reached. Please try again.", {
    "retry-after": "5",
  });
}
