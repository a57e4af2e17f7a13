import type { FastifyRequest } from "fastify";
import { parseWidgetId } from "#contract/ids.ts";
import type { Db } from "../db/connections/pool.ts";
import type { Deps } from "../deps.ts";
import { notFound } from "../http/errors/api-error.ts";
import { toClientNetwork } from "../http/limits/client-network.ts";
import { limitByNetwork, type RateLimitVerdict, rateLimited, SharedLimiter } from "../http/limits/rate-limit.ts";
import { type BookableWidget, findBookableWidget } from "./queries.ts";

/** Guard of the routes under /embed-api: throws `not_found`. */
export async function requireBookableWidget(db: Db, text: string): Promise<BookableWidget> {
  const id = parseWidgetId(text);
  const widget = id && (await findBookableWidget(db, id));
  if (!widget) throw notFound("Widget");
  return widget;
}

type WidgetRequest = FastifyRequest<{ Params: { widget: string } }>;

type WidgetGuard = {
  /** Limits requests per network before anything is read. */
  requireWidget(request: WidgetRequest): Promise<BookableWidget>;
  /** Limits requests per widget. Call it once nothing in the request is wrong: refused requests use up nothing. */
  limitWidget(request: WidgetRequest, widget: BookableWidget): void;
};

/** Guard of one route under /embed-api. */
export function limitWidgetRoute(
  deps: Pick<Deps, "db" | "clock">,
  limits: { perNetwork: number; perWidget: number; message: string },
): WidgetGuard {
  const byNetwork = limitByNetwork(limits.perNetwork);
  const byWidget = limits.perWidget > 0 ? new SharedLimiter({ perMinute: limits.perWidget }) : null;
  const check = (verdict: RateLimitVerdict | undefined) => {
    if (verdict?.isAllowed === false) throw rateLimited(verdict, limits.message);
  };
  return {
    async requireWidget(request) {
      check(byNetwork?.take(toClientNetwork(request.ip), deps.clock.now()));
      return await requireBookableWidget(deps.db, request.params.widget);
    },
    limitWidget(request, { id }) {
      check(byWidget?.take({ key: id, network: toClientNetwork(request.ip) }, deps.clock.now()));
    },
  };
}
