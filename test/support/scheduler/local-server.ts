import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

// For tests: an HTTP server on this machine that plays a scheduling system strictly. A request that the system's documentation
// doesn't allow is a fault; a test ends with `expectNoFaults`.

export type ReceivedRequest = {
  readonly method: string;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
};

export type Reply = {
  readonly status: number;
  readonly json?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent unchanged instead of JSON. */
  readonly text?: string;
};

/** Accepts the request and stays silent, or closes the connection without a response. */
export type Silence = "hang" | "reset";

type LocalServer = {
  readonly url: string;
  readonly requests: ReceivedRequest[];
  stop(): Promise<void>;
};

export async function startLocalServer(
  reply: (request: ReceivedRequest) => Reply | Silence | Promise<Reply | Silence>,
): Promise<LocalServer> {
  const requests: ReceivedRequest[] = [];
  const server = createServer(async (incoming, outgoing) => {
    const request = await readRequest(incoming).catch(() => null);
    // The caller gave up before sending its whole request.
    if (request === null) return;
    requests.push(request);
    const given = await reply(request);
    if (given === "hang") return;
    if (given === "reset") outgoing.destroy();
    else respond(outgoing, given);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    stop: async () => {
      if (!server.listening) return;
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

async function readRequest(incoming: IncomingMessage): Promise<ReceivedRequest> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk);
  const url = new URL(incoming.url ?? "/", "http://local");
  return {
    method: incoming.method ?? "",
    path: decodeURIComponent(url.pathname),
    query: Object.fromEntries(url.searchParams),
    headers: incoming.headers,
    body: Buffer.concat(chunks).toString("utf8"),
  };
}

function respond(outgoing: ServerResponse, { status, json, headers, text }: Reply): void {
  const body = text ?? (json === undefined ? "" : JSON.stringify(json));
  outgoing.writeHead(status, { "Content-Type": text === undefined ? "application/json" : "text/html", ...headers });
  outgoing.end(body);
}

/** A time limit that expires exactly when a test says so. */
export function createTimeLimit(): { signal: AbortSignal; runOut: () => void } {
  const controller = new AbortController();
  return { signal: controller.signal, runOut: () => controller.abort(new DOMException("late", "TimeoutError")) };
}
