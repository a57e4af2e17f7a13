// A webhook receiver with Fastify 5:
//   WEBHOOK_SECRET=whsec_… PORT=8080 node receiver-fastify.ts

import { verifyWebhook, WebhookError } from "@bookflow/client";
import { fastify } from "fastify";

const { WEBHOOK_SECRET = "", PORT = "8080" } = process.env;
/** In production use a table with a unique column: an event may arrive again, even after you restart. */
const seen = new Set<string>();

const app = fastify({ bodyLimit: 1_000_000 });
app.register(async (hooks) => {
  // Only in this scope, the body stays as received.
  hooks.removeAllContentTypeParsers();
  hooks.addContentTypeParser("*", { parseAs: "buffer" }, (_request, body, done) => done(null, body));
  hooks.setErrorHandler((error, _request, reply) =>
    error instanceof WebhookError ? reply.code(400).send() : reply.send(error),
  );
  hooks.post("/hooks", async (request, reply) => {
    const event = verifyWebhook(request.body as Buffer, request.headers["service-signature"], WEBHOOK_SECRET);
    if (event.type === "booking.created" && !seen.has(event.id))
      process.stdout.write(`${event.data.booking.reference}\n`);
    seen.add(event.id);
    return await reply.code(204).send();
  });
});
await app.listen({ port: Number(PORT) });
