import { readFileSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { type Arrival, readContent, toReply } from "./arrival.ts";
import { PANELS, renderArrival, toPanel } from "./render-arrival.ts";

// A webhook receiver with a page that shows each delivery as it arrives. It accepts any path, so that you can try your own
// endpoints too; one path always answers 500, to have something to retry.

export const FAILING_PATH = "/down";

const BODY_BYTES_MAX = 1_000_000;
const ARRIVALS_KEPT = 200;
const DOWN = { status: 500, body: "The old CRM is down." };
/** The page is ours, but what it shows comes from outside. */
const PAGE_POLICY =
  "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const read = (name: string) => readFileSync(new URL(name, import.meta.url), "utf8");

type ReceiverLinks = { readonly site: string; readonly deliveries: string };

export class Receiver {
  readonly #options: { readonly listSecrets: () => Promise<string[]>; readonly links: ReceiverLinks };
  readonly #page = read("receiver.html");
  readonly #files: Readonly<Record<string, readonly [type: string, body: string]>> = {
    "/receiver.css": ["text/css; charset=utf-8", read("receiver.css")],
    "/receiver-page.js": ["text/javascript; charset=utf-8", read("receiver-page.js")],
    "/icon.svg": ["image/svg+xml", read("../../../src/dashboard/icon.svg")],
  };
  readonly #viewers = new Set<ServerResponse>();
  readonly #arrivals: Arrival[] = [];
  #secrets: string[] = [];
  #count = 0;

  constructor(options: { listSecrets: () => Promise<string[]>; links: ReceiverLinks }) {
    this.#options = options;
  }

  handle(request: IncomingMessage, response: ServerResponse): void {
    const { pathname, searchParams } = new URL(request.url ?? "/", "http://receiver");
    if (request.method === "POST") void this.#receive(request, response, pathname);
    else if (pathname === "/") this.#sendPage(response);
    else if (pathname === "/stream") {
      const after = request.headers["last-event-id"] ?? searchParams.get("after") ?? "";
      this.#follow(response, Number(after) || 0);
    } else this.#sendFile(response, pathname);
  }

  async #receive(request: IncomingMessage, response: ServerResponse, path: string): Promise<void> {
    try {
      const body = await readBody(request);
      if (body === null) return void response.writeHead(413).end();
      const signature = request.headers["service-signature"];
      const content = readContent({
        body,
        signature: typeof signature === "string" ? signature : undefined,
        secrets: signature === undefined ? [] : await this.#listSecrets(),
        now: new Date(),
      });
      const reply = path === FAILING_PATH ? DOWN : toReply(content);
      const headers = toPairs(request.rawHeaders);
      this.#show({
        number: ++this.#count,
        at: new Date(),
        path,
        headers,
        content,
        attempt: this.#countAttempts(headers),
        reply,
      });
      response.writeHead(reply.status, { "content-type": "text/plain" }).end(reply.body);
    } catch {
      // The sender disconnected midway, and will try again.
      response.destroy();
    }
  }

  /** Read again each time, since endpoints and secrets change; falls back to the last known ones when that fails. */
  async #listSecrets(): Promise<string[]> {
    try {
      this.#secrets = await this.#options.listSecrets();
    } catch {
      // The demo is stopping, and has released its database.
    }
    return this.#secrets;
  }

  #show(arrival: Arrival): void {
    this.#arrivals.push(arrival);
    if (this.#arrivals.length > ARRIVALS_KEPT) this.#arrivals.shift();
    for (const viewer of this.#viewers) viewer.write(toMessage(arrival));
  }

  #countAttempts(headers: Arrival["headers"]): number {
    const id = findHeader(headers, "service-delivery");
    return 1 + this.#arrivals.filter((arrival) => findHeader(arrival.headers, "service-delivery") === id).length;
  }

  #sendPage(response: ServerResponse): void {
    const { site, deliveries } = this.#options.links;
    const lists = PANELS.map((panel) => {
      const shown = this.#arrivals.filter((arrival) => toPanel(arrival) === panel);
      return [panel, shown.toReversed().map(renderMarkup).join("")];
    });
    const parts: Readonly<Record<string, string>> = {
      ...Object.fromEntries(lists),
      site,
      deliveries,
      last: String(this.#count),
    };
    const page = this.#page.replaceAll(/\{\{(\w+)\}\}/g, (_, name: string) => parts[name] ?? "");
    response.writeHead(200, {
      "content-type": "text/html; charset=utf-8",
      "cache-control": "no-store",
      "content-security-policy": PAGE_POLICY,
      "x-content-type-options": "nosniff",
    });
    response.end(page);
  }

  /** Server-sent events: first what arrived since the page was rendered, then whatever follows. */
  #follow(response: ServerResponse, after: number): void {
    response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-store" });
    response.write("retry: 1000\n\n");
    for (const arrival of this.#arrivals.filter(({ number }) => number > after)) response.write(toMessage(arrival));
    this.#viewers.add(response);
    response.on("close", () => this.#viewers.delete(response));
  }

  #sendFile(response: ServerResponse, pathname: string): void {
    const file = this.#files[pathname];
    if (!file) return void response.writeHead(404, { "content-type": "text/plain" }).end("Not found\n");
    response.writeHead(200, { "content-type": file[0], "cache-control": "no-store" }).end(file[1]);
  }
}

function renderMarkup(arrival: Arrival): string {
  return renderArrival(arrival).toString();
}

function toMessage(arrival: Arrival): string {
  const data = JSON.stringify({ panel: toPanel(arrival), markup: renderMarkup(arrival) });
  return `id: ${arrival.number}\ndata: ${data}\n\n`;
}

/** Null if it is too long. */
async function readBody(request: IncomingMessage): Promise<Buffer | null> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > BODY_BYTES_MAX) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Names as they were sent. */
function toPairs(rawHeaders: readonly string[]): [string, string][] {
  return Array.from({ length: rawHeaders.length / 2 }, (_, i) => [
    rawHeaders[2 * i] ?? "",
    rawHeaders[2 * i + 1] ?? "",
  ]);
}

function findHeader(headers: Arrival["headers"], name: string): string | undefined {
  return headers.find(([given]) => given.toLowerCase() === name)?.[1];
}
