// A webhook receiver with Express 5:
//   WEBHOOK_SECRET=whsec_… PORT=8080 node receiver-express.ts

import { verifyWebhook, WebhookError } from "@bookflow/client";
import express from "express";

const { WEBHOOK_SECRET = "", PORT = "8080" } = process.env;
/** In production use a table with a unique column: an event may arrive again, even after you restart. */
const seen = new Set<string>();

const app = express();
// express.raw keeps the received bytes. Put this route before any express.json().
app.post("/hooks", express.raw({ type: "*/*", limit: "1mb" }), (request, response) => {
  try {
    const event = verifyWebhook(request.body, request.headers["service-signature"], WEBHOOK_SECRET);
    if (event.type === "booking.created" && !seen.has(event.id))
      process.stdout.write(`${event.data.booking.reference}\n`);
    seen.add(event.id);
    response.status(204).end();
  } catch (error) {
    response.status(error instanceof WebhookError ? 400 : 500).end();
  }
});
app.listen(Number(PORT));
