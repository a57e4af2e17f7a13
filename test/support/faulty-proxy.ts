import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { after } from "node:test";

// What lies between a caller and the service on a bad day: it hands requests on, but for the faults it is told to make.

export type Fault =
  | { status: number; headers?: Record<string, string>; body?: string }
  /** No answer, connection closed. */
  | "reset"
  /** No answer, connection open. */
  | "hang"
  /** The service's own answer, cut off in the middle. */
  | "cut";

export type FaultyProxy = {
  url: string;
  /** Made one after the other, a request each; then all goes well. */
  faults: Fault[];
  /** Path and query of every request that came. */
  requests: string[];
  /** Called with the number of the request before anything is done about it. */
  onRequest: (count: number) => void | Promise<void>;
};

export async function startFaultyProxy(target: string): Promise<FaultyProxy> {
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const path = request.url ?? "/";
    const count = proxy.requests.push(path);
    const fault = proxy.faults.shift();
    await proxy.onRequest(count);
    if (fault === "hang") return;
    if (fault === "reset") return void response.destroy();
    if (typeof fault === "object") return void response.writeHead(fault.status, fault.headers).end(fault.body ?? "");
    const { authorization = "" } = request.headers;
    const answer = await fetch(target + path, { headers: { authorization } });
    await handOn(answer, response, fault === "cut");
  };
  // The service may be closed while a request whose caller was killed is still under way.
  const server = createServer((request, response) => void answer(request, response).catch(() => response.destroy()));
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

async function handOn(answer: Response, response: ServerResponse, isCut: boolean): Promise<void> {
  const body = Buffer.from(await answer.arrayBuffer());
  response.writeHead(answer.status, Object.fromEntries(answer.headers));
  if (!isCut) return void response.end(body);
  response.write(body.subarray(0, body.length / 2), () => response.destroy());
}
