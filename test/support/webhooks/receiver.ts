import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import type { EndpointId } from "#contract/ids.ts";
import { type Cidr, parseCidr } from "../../../src/server/sending/address-rules.ts";
import {
  createGuardedSend,
  type GuardedSend,
  type OutboundPost,
  type SendResult,
  type SendSettings,
} from "../../../src/server/webhooks/request/guarded-send.ts";

// For tests: a receiver that speaks raw TCP, so that it can misbehave in any way and shows the exact bytes it got.

export type ReceivedRequest = { readonly head: string; readonly body: Buffer };

export type TestReceiver = {
  readonly port: number;
  /** `http://127.0.0.1:<port>/hooks` */
  readonly url: string;
  readonly requests: ReceivedRequest[];
  connectionCount(): number;
  /** Resolves when every connection made so far is closed. */
  allClosed(): Promise<void>;
  stop(): Promise<void>;
};

/** `answer` is called for each complete request; `greet` for each new connection, before any byte. */
export async function startReceiver(
  reply: (socket: Socket, request: ReceivedRequest) => void,
  greet: (socket: Socket) => void = () => {},
): Promise<TestReceiver> {
  const requests: ReceivedRequest[] = [];
  const open = new Set<Socket>();
  let connectionCount = 0;
  const server = createServer((socket) => {
    connectionCount++;
    open.add(socket);
    socket.on("close", () => open.delete(socket));
    // A sender that gives up resets the connection; these tests expect that.
    socket.on("error", () => {});
    greet(socket);
    readRequests(socket, (request) => {
      requests.push(request);
      reply(socket, request);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    port,
    url: `http://127.0.0.1:${port}/hooks`,
    requests,
    connectionCount: () => connectionCount,
    allClosed: async () => {
      await Promise.all([...open].map((socket) => new Promise((resolve) => socket.on("close", resolve))));
    },
    stop: async () => {
      for (const socket of open) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}

export function respond(
  socket: Socket,
  status: number,
  headers: Record<string, string> = {},
  body: string | Buffer = "",
): void {
  const lines = Object.entries({ "Content-Length": String(Buffer.byteLength(body)), ...headers });
  socket.write(`HTTP/1.1 ${status} Any\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n`);
  socket.write(body);
}

export function guardedSend(settings: Partial<SendSettings> & { allowCidrs?: string[] } = {}): GuardedSend {
  const { allowCidrs = ["127.0.0.0/8"], ...rest } = settings;
  return createGuardedSend({
    resolve: async () => ({ kind: "not_found" }),
    allow: allowCidrs.map((text): Cidr => parseCidr(text) ?? assert.fail(text)),
    nat64: [],
    timeoutMs: 5_000,
    docsUrl: "https://docs.example/webhooks",
    ...rest,
  });
}

const ENDPOINT_ID = "we_1111111111111111" as EndpointId;

export function post(url: string, change: Partial<OutboundPost> = {}): OutboundPost {
  return { url, endpointId: ENDPOINT_ID, body: Buffer.from("{}"), signed: null, customHeaders: {}, ...change };
}

/** The result without its trace and its duration, which is checked to be a whole number of milliseconds in the range. */
export function untimed(
  result: SendResult,
  range: { minMs?: number; maxMs?: number } = {},
): Omit<SendResult, "durationMs" | "trace"> {
  const { durationMs, trace: _trace, ...rest } = result;
  const { minMs = 0, maxMs = 5_000 } = range;
  assert.ok(Number.isInteger(durationMs) && durationMs >= minMs && durationMs <= maxMs, `took ${durationMs} ms`);
  return rest;
}

function readRequests(socket: Socket, onRequest: (request: ReceivedRequest) => void): void {
  let received = Buffer.alloc(0);
  socket.on("data", (chunk: Buffer) => {
    received = Buffer.concat([received, chunk]);
    for (;;) {
      const headEnd = received.indexOf("\r\n\r\n");
      if (headEnd < 0) return;
      const head = received.toString("latin1", 0, headEnd);
      const bodyEnd = headEnd + 4 + Number(/^content-length: ([0-9]+)$/im.exec(head)?.[1] ?? 0);
      if (received.length < bodyEnd) return;
      const body = received.subarray(headEnd + 4, bodyEnd);
      received = received.subarray(bodyEnd);
      onRequest({ head, body });
    }
  });
}
