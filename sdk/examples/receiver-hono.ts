// A webhook receiver with Hono 4, here on Node:
//   WEBHOOK_SECRET=whsec_… PORT=8080 node receiver-hono.ts

import { verifyWebhook, WebhookError } from "@bookflow/client";
import { serve } from "@hono/node-server";
import { Hono } from "hono";
import { bodyLimit } from "hono/body-limit";

const { WEBHOOK_SECRET = "", PORT = "8080" } = process.env;
/** In production use a table with a unique column: an event may arrive again, even after you restart. */
const seen = new Set<string>();

const app = new Hono();
app.post("/hooks", bodyLimit({ maxSize: 1_000_000 }), async (context) => {
  const rawBody = await context.req.arrayBuffer();
  try {
    const event = verifyWebhook(rawBody, context.req.header("service-signature"), WEBHOOK_SECRET);
    if (event.type === "booking.created" && !seen.has(event.id))
      process.stdout.write(`${event.data.booking.reference}\n`);
    seen.add(event.id);
    return context.body(null, 204);
  } catch (error) {
    if (error instanceof WebhookError) return context.body(null, 400);
    throw error;
  }
});
serve({ fetch: app.fetch, port: Number(PORT) });
