import type { FastifyInstance } from "fastify";

/** On every answer, errors and unknown paths included. A route that may be cached sets its own Cache-Control. */
export function commonHeaders(requestId: string): Record<string, string> {
  return {
    "x-request-id": requestId,
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
  };
}

export function installResponseHeaders(app: FastifyInstance): void {
  app.addHook("onRequest", (request, reply, done) => {
    reply.headers(commonHeaders(request.id));
    done();
  });

  let isStopping = false;
  app.addHook("preClose", async () => {
    isStopping = true;
  });
  // A connection that was busy when the service began to stop would be kept, and waited for, until its client lets go.
  app.addHook("onSend", (_request, reply, payload, done) => {
    if (isStopping) reply.header("connection", "close");
    done(null, payload);
  });
}
