// A webhook receiver without dependencies. Node 22.18 or newer runs it without a build step:
//   WEBHOOK_SECRET=whsec_… PORT=8080 node receiver.ts

import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";

const TOLERANCE_SECONDS = 300;
const BODY_BYTES_MAX = 1_000_000;

// Every request is signed in two ways. Your receiver needs only one of these two functions. In both, `rawBody` must be the
// bytes as received, not JSON parsed and serialised again.

/** True if Bookflow signed this request: Service-Signature. */
function isAuthentic(header: string, rawBody: Buffer, secret: string): boolean {
  const parts = header.split(",").map((part) => part.trim());
  const timestamp = parts.find((part) => part.startsWith("t="))?.slice(2) ?? "";
  const signatures = parts.filter((part) => part.startsWith("v1=")).map((part) => part.slice(3));
  const expected = createHmac("sha256", secret).update(`${timestamp}.`).update(rawBody).digest("hex");
  return isRecent(timestamp) && isOneOf(expected, signatures);
}

/** The same with the headers of Standard Webhooks, whose libraries do this for you. */
function isAuthenticStandard(headers: IncomingMessage["headers"], rawBody: Buffer, secret: string): boolean {
  const [id, timestamp, header] = ["webhook-id", "webhook-timestamp", "webhook-signature"].map((name) =>
    String(headers[name] ?? ""),
  ) as [string, string, string];
  const key = Buffer.from(secret.slice("whsec_".length), "base64");
  const parts = header.split(" ").filter((part) => part.startsWith("v1,"));
  const expected = createHmac("sha256", key).update(`${id}.${timestamp}.`).update(rawBody).digest("base64");
  return (
    isRecent(timestamp) &&
    isOneOf(
      expected,
      parts.map((part) => part.slice(3)),
    )
  );
}

function isRecent(timestamp: string): boolean {
  return /^[0-9]{1,12}$/.test(timestamp) && Math.abs(Date.now() / 1000 - Number(timestamp)) <= TOLERANCE_SECONDS;
}

/** While a rotation overlaps, requests carry one signature per secret. Either is enough. */
function isOneOf(expected: string, signatures: string[]): boolean {
  const wanted = Buffer.from(expected);
  return signatures
    .map((signature) => Buffer.from(signature))
    .some((given) => given.length === wanted.length && timingSafeEqual(given, wanted));
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
  const header = request.headers["service-signature"];
  const isSigned =
    header === undefined
      ? isAuthenticStandard(request.headers, rawBody, secret)
      : isAuthentic(String(header), rawBody, secret);
  if (!isSigned) {
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
