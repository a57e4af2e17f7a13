// A webhook receiver without dependencies. Node 22.18 or newer runs it without a build step:
//   WEBHOOK_SECRET=whsec_… PORT=8080 node receiver.ts

import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";

const TOLERANCE_SECONDS = 300;
const BODY_BYTES_MAX = 1_000_000;

/** True if Bookflow signed this request. `rawBody` must be the bytes as received, not JSON parsed and serialised again. */
function isAuthentic(header: string, rawBody: Buffer, secret: string): boolean {
  const parts = header.split(",").map((part) => part.trim());
  const timestamp = parts.find((part) => part.startsWith("t="))?.slice(2) ?? "";
  if (!/^[0-9]{1,12}$/.test(timestamp)) return false;
  if (Math.abs(Date.now() / 1000 - Number(timestamp)) > TOLERANCE_SECONDS) return false;
  const expected = Buffer.from(createHmac("sha256", secret).update(`${timestamp}.`).update(rawBody).digest("hex"));
  // For 24 hours after a rotation, requests carry one signature per secret. Either is enough.
  return parts
    .filter((part) => part.startsWith("v1="))
    .map((part) => Buffer.from(part.slice(3)))
    .some((given) => given.length === expected.length && timingSafeEqual(given, expected));
}

const secret = process.env["WEBHOOK_SECRET"] ?? "";
if (!secret.startsWith("whsec_"))
  throw new Error("Set WEBHOOK_SECRET to the endpoint's signing secret, whsec_ included");

/** In production, use a table with a unique column: an event may arrive again, even after you restart. */
const seen = new Set<string>();

async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > BODY_BYTES_MAX) return void response.writeHead(413).end();
    chunks.push(chunk);
  }
  const rawBody = Buffer.concat(chunks);
  if (!isAuthentic(String(request.headers["service-signature"] ?? ""), rawBody, secret)) {
    return void response.writeHead(400).end("bad signature");
  }
  const event = JSON.parse(rawBody.toString());
  const isNew = !seen.has(event.id);
  seen.add(event.id);
  // Respond once the event is stored and before you process it. Bookflow waits 15 seconds for a response.
  response.writeHead(204).end();
  if (isNew && event.type === "booking.created") process.stdout.write(`${event.id} ${event.data.booking.reference}\n`);
}

createServer((request, response) => {
  // A client that disconnects in the middle of a request must not end the program.
  receive(request, response).catch(() => request.destroy());
}).listen(Number(process.env["PORT"] ?? 8080), "127.0.0.1", () => process.stderr.write("ready\n"));
