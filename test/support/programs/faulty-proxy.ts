import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { after } from "node:test";

// A proxy between a caller and the service on a bad day: it forwards requests, except for the faults it is told to cause.

export type Fault =
  | { status: number; headers?: Record<string, string>; body?: string }
  /** No response, connection closed. */
  | "reset"
  /** No response, connection open. */
  | "hang"
  /** The service's own response, cut off midway. */
  | "cut";

export type FaultyProxy = {
  url: string;
  /** Caused one after the other, one per request; then everything works. */
  faults: Fault[];
  /** Path and query of every request received. */
  requests: string[];
  /** Called with the request's number before the request is handled. */
  onRequest: (count: number) => void | Promise<void>;
};

export async function startFaultyProxy(target: string): Promise<FaultyProxy> {
  const serve = async (request: IncomingMessage, response: ServerResponse) => {
    const path = request.url ?? "/";
    const count = proxy.requests.push(path);
    const fault = proxy.faults.shift();
    await proxy.onRequest(count);
    if (fault === "hang") return;
    if (fault === "reset") return void response.destroy();
    if (typeof fault === "object") return void response.writeHead(fault.status, fault.headers).end(fault.body ?? "");
    const { method = "GET", headers: sent } = request;
    const kept = ["authorization", "content-type", "idempotency-key"].filter((name) => sent[name] !== undefined);
    const headers = Object.fromEntries(kept.map((name) => [name, String(sent[name])]));
    const content = method === "GET" ? {} : { body: await buffer(request) };
    const reply = await fetch(target + path, {
      method,
      headers: { ...headers, "accept-encoding": "identity" },
      ...content,
    });
    await handOn(reply, response, fault === "cut");
  };
  // The service can be closed while the request of a killed caller is still in progress.
  const server = createServer((request, response) => void serve(request, response).catch(() => response.destroy()));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  after(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const proxy: FaultyProxy = { url: `http://127.0.0.1:${port}`, faults: [], requests: [], onRequest: () => {} };
  return proxy;
}

async function handOn(reply: Response, response: ServerResponse, isCut: boolean): Promise<void> {
  const body = Buffer.from(await reply.arrayBuffer());
  response.writeHead(reply.status, Object.fromEntries(reply.headers));
  if (!isCut) return void response.end(body);
  response.write(body.subarray(0, body.length / 2), () => response.destroy());
}
