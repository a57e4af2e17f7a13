import type { FastifyInstance } from "fastify";
import { sql } from "kysely";
import { observeBookings } from "../bookings/bookings.ts";
import type { Deps } from "../deps.ts";
import { ApiError } from "../http/errors/api-error.ts";
import { toClientNetwork } from "../http/limits/client-network.ts";
import { RateLimiter, rateLimited } from "../http/limits/rate-limit.ts";
import { within } from "../lib/concurrency/pause.ts";
import { OVERDUE_SECONDS_MAX, observeQueue } from "../webhooks/webhooks.ts";

/** Monitoring treats a database that takes longer than this as down. */
const DATABASE_LIMIT_MS = 2_000;

/** Per network. Writing the metrics takes up to 10 ms. */
const METRICS_PER_MINUTE = 120;

type OperationsDeps = Pick<Deps, "config" | "db" | "clock" | "metrics" | "log">;

/** GET /healthz, /readyz, /metrics: for the operator's monitoring. */
export function operationsRoutes(app: FastifyInstance, deps: OperationsDeps): void {
  let isStopping = false;
  app.addHook("preClose", async () => {
    isStopping = true;
  });

  app.get("/healthz", { schema: { hide: true } }, async () => ({ status: "ok" }));

  app.get("/readyz", { schema: { hide: true } }, async () => {
    if (isStopping) throw new ApiError("unavailable", "The service is stopping.");
    try {
      await within(DATABASE_LIMIT_MS, sql`select 1`.execute(deps.db));
    } catch (error) {
      deps.log.warn("readiness.failed", { error });
      throw new ApiError("unavailable", "The database can't be reached.", { "retry-after": "5" });
    }
    return (await areDeliveriesOverdue(deps)) ? sayOverdue(deps) : { status: "ready" };
  });

  const limiter = new RateLimiter({ perMinute: METRICS_PER_MINUTE });
  app.get("/metrics", { schema: { hide: true } }, async (request, reply) => {
    const verdict = limiter.take(toClientNetwork(request.ip), deps.clock.now());
    if (!verdict.isAllowed) throw rateLimited(verdict, "The metrics were read too often. Wait a minute.");
    await Promise.all([observeQueue(deps), observeBookings(deps)]);
    reply.type(deps.metrics.registry.contentType);
    return await deps.metrics.read();
  });
}

/** A process that only answers requests doesn't deliver. */
async function areDeliveriesOverdue(deps: OperationsDeps): Promise<boolean> {
  if (deps.config.role === "web") return false;
  const measure = await observeQueue(deps);
  return measure !== null && measure.overdue_seconds > OVERDUE_SECONDS_MAX;
}

/**
 * Only a process that does nothing but background work fails for this (docs/decisions/0007-readiness-and-deliveries.md): a load
 * balancer that removed every other process would turn late webhooks into lost bookings.
 */
function sayOverdue(deps: OperationsDeps): { status: string; deliveries: string } {
  deps.log.warn("deliveries.overdue");
  if (deps.config.role === "worker") throw new ApiError("unavailable", "Webhook deliveries are overdue.");
  return { status: "ready", deliveries: "overdue" };
}
