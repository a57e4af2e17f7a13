import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { COLLECT_BODY_MAX_BYTES } from "#contract/widgets/embed-api.ts";
import type { Deps } from "../../deps.ts";
import { ApiError, notFound } from "../../http/errors/api-error.ts";
import { toClientNetwork } from "../../http/limits/client-network.ts";
import { limitByNetwork, type RateLimitVerdict, rateLimited } from "../../http/limits/rate-limit.ts";
import type { Collected, Collector } from "./collect.ts";

const QUEUE_FULL_WAIT_SECONDS = "2";
const DATABASE_WAIT_SECONDS = "5";

/** POST /embed-api/{widget}/events: funnel events from the booking frame. 204 means committed, or deliberately dropped. */
export async function collectRoutes(
  app: FastifyInstance,
  deps: Pick<Deps, "config" | "clock" | "metrics">,
  collector: Collector,
): Promise<void> {
  const limitRate = createRateLimit(deps);
  deps.metrics.watch(() => deps.metrics.funnelQueue.set(collector.waitingCount));

  // In their own scope, because other routes must not accept text as JSON.
  await app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    // A beacon without a preflight request can only be text/plain. parse-collect-body.ts parses the text.
    scope.addContentTypeParser(["application/json", "text/plain"], { parseAs: "string" }, (_request, body, done) =>
      done(null, body),
    );
    scope.addHook("onClose", () => collector.close());
    scope.post<{ Params: { widget: string }; Body: string | undefined }>(
      "/embed-api/:widget/events",
      { bodyLimit: COLLECT_BODY_MAX_BYTES, schema: { hide: true }, config: { isQuiet: true }, onRequest: limitRate },
      async (request, reply) => {
        const { params, body = "", headers } = request;
        const collected = await collector.collect({ widget: params.widget, body, headers, ip: readAddress(request) });
        deps.metrics.funnelEvents.inc({ outcome: collected.outcome }, collected.eventCount);
        requireRecorded(collected);
        return reply.code(204).send();
      },
    );
  });
}

/** Returns normally if the response is 204. */
function requireRecorded(collected: Collected): void {
  switch (collected.outcome) {
    case "recorded":
    case "prefetch":
    case "bot":
    case "spam_referrer":
    case "paused":
    case "over_budget":
      return;
    case "malformed":
      throw new ApiError("bad_request", collected.fault);
    case "unknown_widget":
      throw notFound("Widget");
    case "queue_full":
      throw new ApiError("unavailable", "Too many events are waiting to be recorded. Try again in a few seconds.", {
        "retry-after": QUEUE_FULL_WAIT_SECONDS,
      });
    case "database_unavailable":
      throw new ApiError("unavailable", "The events couldn't be recorded. Try again.", {
        "retry-after": DATABASE_WAIT_SECONDS,
      });
    default:
      collected satisfies never;
  }
}

/** Per network and in memory only; the address is used as a key and never written anywhere. */
function createRateLimit(deps: Pick<Deps, "config" | "clock" | "metrics">) {
  const perMinute = deps.config.rateLimitEventsPerMinute;
  const limiter = limitByNetwork(perMinute);
  return function limitRate(request: FastifyRequest, _reply: FastifyReply, done: (error?: Error) => void): void {
    const verdict = limiter?.take(toClientNetwork(readAddress(request)), deps.clock.now());
    done(verdict?.isAllowed === false ? refuse(verdict) : undefined);
  };

  function refuse(verdict: RateLimitVerdict): ApiError {
    deps.metrics.funnelEvents.inc({ outcome: "rate_limited" });
    return rateLimited(verdict, `Each network may send ${perMinute} requests per minute. Wait before sending more.`);
  }
}

/** A closing page sends its beacon and disconnects, after which the connection has no address. */
function readAddress(request: FastifyRequest): string {
  const ip: string | undefined = request.ip;
  return ip ?? "";
}
