import type { FastifyInstance } from "fastify";

/** On every response, including errors and unknown paths. A route that may be cached sets its own Cache-Control. */
export function commonHeaders(requestId: string): Record<string, string> {
  return {
    "x-request-id": requestId,
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
  };
}

/** One year, for this host only: other hosts of the domain may not be ours. */
const HSTS = "max-age=31536000";

export function installResponseHeaders(app: FastifyInstance, config: { baseUrl: string }): void {
  const isHttps = config.baseUrl.startsWith("https:");
  app.addHook("onRequest", (request, reply, done) => {
    reply.headers(commonHeaders(request.id));
    if (isHttps) reply.header("strict-transport-security", HSTS);
    done();
  });

  let isStopping = false;
  app.addHook("preClose", async () => {
    isStopping = true;
  });
  // Otherwise a connection that was busy when shutdown began would stay open until its client closes it.
  app.addHook("onSend", (_request, reply, payload, done) => {
    if (isStopping) reply.header("connection", "close");
    done(null, payload);
  });
}
