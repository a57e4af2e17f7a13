import type { FastifyInstance } from "fastify";
import { sql } from "kysely";
import type { Deps } from "../deps.ts";
import { ApiError } from "../http/api-error.ts";

/** GET /healthz, /readyz, /metrics: for the operator's monitoring. */
export function operationsRoutes(app: FastifyInstance, deps: Pick<Deps, "db" | "metrics" | "log">): void {
  let isStopping = false;
  app.addHook("preClose", async () => {
    isStopping = true;
  });

  /** The process is alive. */
  app.get("/healthz", { schema: { hide: true } }, async () => ({ status: "ok" }));

  /** The process can do its work: send it requests. */
  app.get("/readyz", { schema: { hide: true } }, async () => {
    if (isStopping) throw new ApiError("unavailable", "The service is stopping.");
    try {
      await sql`select 1`.execute(deps.db);
    } catch (error) {
      deps.log.warn("readiness.failed", { error });
      throw new ApiError("unavailable", "The database cannot be reached.", { "retry-after": "5" });
    }
    return { status: "ready" };
  });

  app.get("/metrics", { schema: { hide: true } }, async (_request, reply) => {
    reply.type(deps.metrics.registry.contentType);
    return await deps.metrics.registry.metrics();
  });
}
