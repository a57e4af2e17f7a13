import type { FastifyRequest } from "fastify";
import type { Deps } from "../deps.ts";
import { toClientNetwork } from "../http/client-network.ts";
import { limitStrangers, type RateLimitVerdict, rateLimited } from "../http/rate-limit.ts";
import { type BookableWidget, requireBookableWidget } from "./bookable-widget.ts";

type WidgetRequest = FastifyRequest<{ Params: { widget: string } }>;

/**
 * Guard of one route under /embed-api: limits requests per network before anything is read, and per widget once the widget is
 * known to exist, so that made-up ids don't use up memory.
 */
export function limitWidgetRoute(
  deps: Pick<Deps, "db" | "clock">,
  limits: { perNetwork: number; perWidget: number; message: string },
): (request: WidgetRequest) => Promise<BookableWidget> {
  const byNetwork = limitStrangers(limits.perNetwork);
  const byWidget = limitStrangers(limits.perWidget);
  const check = (verdict: RateLimitVerdict | undefined) => {
    if (verdict?.isAllowed === false) throw rateLimited(verdict, limits.message);
  };
  return async (request) => {
    check(byNetwork?.take(toClientNetwork(request.ip), deps.clock.now()));
    const widget = await requireBookableWidget(deps.db, request.params.widget);
    check(byWidget?.take(widget.id, deps.clock.now()));
    return widget;
  };
}
