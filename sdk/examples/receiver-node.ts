// A webhook receiver with plain Node:
//   WEBHOOK_SECRET=whsec_… PORT=8080 node receiver-node.ts

import { createServer } from "node:http";
import { verifyWebhook, WebhookError } from "@bookflow/client";

const { WEBHOOK_SECRET = "", PORT = "8080" } = process.env;
const BODY_BYTES_MAX = 1_000_000;
/** In production use a table with a unique column: an event may arrive again, even after you restart. */
const seen = new Set<string>();

createServer(async (request, response) => {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > BODY_BYTES_MAX) return void response.writeHead(413).end();
    chunks.push(chunk);
  }
  try {
    const event = verifyWebhook(Buffer.concat(chunks), request.headers["service-signature"], WEBHOOK_SECRET);
    if (event.type === "booking.created" && !seen.has(event.id))
      process.stdout.write(`${event.data.booking.reference}\n`);
    seen.add(event.id);
    response.writeHead(204).end();
  } catch (error) {
    response.writeHead(error instanceof WebhookError ? 400 : 500).end();
  }
}).listen(Number(PORT));
