import { once } from "node:events";
import { createServer, request as forward, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { after } from "node:test";
import type { FastifyInstance } from "fastify";

// The web around the service: customers' and other websites, each on its own host, and the service itself. Browsers reach it as
// their proxy, so every page has an ordinary URL and its own origin.

export type ServedPage = { body: string; headers?: Record<string, string>; status?: number };
/** By path, without the query. */
export type Pages = Readonly<Record<string, string | ServedPage>>;

export type TestWeb = {
  /** For a browser context's options. */
  readonly proxy: { server: string; bypass: string };
  /** The requests for this host: `GET /path?query`. */
  requestsOf(host: string): string[];
  addSite(host: string, pages: Pages): void;
  addService(host: string, app: FastifyInstance): Promise<void>;
  /** Nothing answers there from now on. */
  remove(host: string): void;
};

type Handler = (request: IncomingMessage, response: ServerResponse, path: string) => void;

export async function startWeb(): Promise<TestWeb> {
  const handlers = new Map<string, Handler>();
  const requests: { host: string; line: string }[] = [];
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? "", "http://nowhere.example");
    requests.push({ host: url.host, line: `${request.method} ${url.pathname}${url.search}` });
    const handle = handlers.get(url.host);
    if (handle) handle(request, response, url.pathname + url.search);
    else request.socket.destroy();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  after(() => {
    server.close();
    server.closeAllConnections();
  });
  return {
    // The browser asks its vendor for updates; those requests fail.
    proxy: { server: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, bypass: "<-loopback>" },
    requestsOf: (host) => requests.filter((request) => request.host === host).map(({ line }) => line),
    addSite: (host, pages) => handlers.set(host, (_request, response, path) => sendPage(response, pages, path)),
    async addService(host, app) {
      await app.listen({ host: "127.0.0.1", port: 0 });
      const { port } = app.server.address() as AddressInfo;
      handlers.set(host, (request, response, path) => passOn({ request, response, path, port }));
    },
    remove: (host) => handlers.delete(host),
  };
}

function sendPage(response: ServerResponse, pages: Pages, path: string): void {
  const page = pages[path.replace(/\?.*$/, "")] ?? { body: "not found", status: 404 };
  const { body, headers = {}, status = 200 } = typeof page === "string" ? { body: page } : page;
  response.writeHead(status, { "content-type": "text/html; charset=utf-8", "cache-control": "no-store", ...headers });
  response.end(body);
}

function passOn(call: { request: IncomingMessage; response: ServerResponse; path: string; port: number }): void {
  const { request, response, path, port } = call;
  const onward = forward(
    { host: "127.0.0.1", port, path, method: request.method, headers: request.headers },
    (reply) => {
      response.writeHead(reply.statusCode ?? 502, reply.headers);
      reply.pipe(response);
    },
  );
  onward.on("error", () => response.destroy());
  request.pipe(onward);
}

export function toPage(body: string, options: { head?: string; lang?: string; dir?: string } = {}): string {
  const { head = "", lang = "en", dir = "ltr" } = options;
  return `<!doctype html><html lang="${lang}" dir="${dir}"><head><meta charset="utf-8"><title>Lindenhof</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,">${head}</head><body><main><h1>Lindenhof</h1>${body}</main></body></html>`;
}
