import { Agent, type Dispatcher } from "undici";
import type { Clock } from "../lib/clock.ts";
import { parseRetryAfter } from "../webhooks/retry-schedule.ts";
import { isMisuse, type SendFailureCode, SendFault, toFailureCode } from "../webhooks/send-failure.ts";
import { type AddressGuard, buildGuardedConnector } from "./guarded-connector.ts";

// The one way to an external scheduling system: JSON over a guarded connection, under the caller's time limit and our own,
// with a bounded reply, no redirect followed and nothing decompressed. A failure is a code and the one fact that decides
// what a booking became: whether the request may have reached the system. Neither addresses nor headers nor bodies are
// ever part of it, so credentials cannot get into a log.

export type OutboundRequest = {
  readonly method: "GET" | "POST";
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: null | { readonly json: unknown } | { readonly form: Readonly<Record<string, string>> };
};

export type OutboundReply =
  | {
      readonly kind: "reply";
      readonly status: number;
      /** Undefined when the body is not JSON. */
      readonly json: unknown;
      readonly retryAfterMs: number | null;
      readonly requestId: string | null;
    }
  | { readonly kind: "failure"; readonly code: OutboundFailureCode; readonly wasSent: boolean };

export type OutboundFailureCode = SendFailureCode | "aborted" | "too_large";

export type Outbound = {
  send(request: OutboundRequest, signal: AbortSignal): Promise<OutboundReply>;
  close(): Promise<void>;
};

/** Above every limit that callers set: a signal that is never aborted does not keep a request for ever. */
const REQUEST_TIMEOUT_MS = 30_000;
/** A month of availability of a hundred people fits several times. */
const REPLY_BYTES_MAX = 8 * 1024 * 1024;
const REPLY_HEADER_BYTES_MAX = 32 * 1024;
const CONNECTIONS_PER_ORIGIN = 32;
/** Shorter than common servers wait: a POST on a connection that is just being closed would have an unknown outcome. */
const IDLE_SOCKET_MS = 1_500;
const REQUEST_ID_LENGTH_MAX = 100;

export function createOutbound(deps: AddressGuard & { clock: Clock; docsUrl: string }): Outbound {
  const agent = new Agent({
    connect: buildGuardedConnector(deps),
    connections: CONNECTIONS_PER_ORIGIN,
    allowH2: false,
    pipelining: 1,
    maxHeaderSize: REPLY_HEADER_BYTES_MAX,
    headersTimeout: 0,
    bodyTimeout: 0,
    keepAliveTimeout: IDLE_SOCKET_MS,
    keepAliveMaxTimeout: IDLE_SOCKET_MS,
  });
  const fixedHeaders = {
    Accept: "application/json",
    "Accept-Encoding": "identity",
    "User-Agent": `Bookflow/1.0 (+${deps.docsUrl})`,
  };
  return {
    send: async (request, signal) => {
      if (signal.aborted) return { kind: "failure", code: toAbortCode(signal), wasSent: false };
      const url = new URL(request.url);
      const { type, body } = toBody(request.body);
      const options: Dispatcher.DispatchOptions = {
        origin: url.origin,
        path: url.pathname + url.search,
        method: request.method,
        headers: { ...fixedHeaders, ...(type === null ? {} : { "Content-Type": type }), ...request.headers },
        body,
      };
      const limit = AbortSignal.any([signal, AbortSignal.timeout(REQUEST_TIMEOUT_MS)]);
      return await exchange({ agent, clock: deps.clock, isTls: url.protocol === "https:" }, options, limit);
    },
    close: () => agent.destroy(),
  };
}

function exchange(
  deps: { agent: Agent; clock: Clock; isTls: boolean },
  options: Dispatcher.DispatchOptions,
  signal: AbortSignal,
): Promise<OutboundReply> {
  const { promise, resolve, reject } = Promise.withResolvers<OutboundReply>();
  let controller: Dispatcher.DispatchController | null = null;
  let isSettled = false;
  let head: { status: number; headers: Readonly<Record<string, string | string[] | undefined>> } | null = null;
  let receivedBytes = 0;
  const received: Buffer[] = [];

  const settle = (reply: OutboundReply): void => {
    isSettled = true;
    signal.removeEventListener("abort", onAbort);
    resolve(reply);
  };
  const fail = (code: OutboundFailureCode): void => {
    if (isSettled) return;
    settle({ kind: "failure", code, wasSent: controller !== null });
    controller?.abort(new SendFault("timeout"));
  };
  const onAbort = (): void => fail(toAbortCode(signal));
  signal.addEventListener("abort", onAbort, { once: true });

  deps.agent.dispatch(options, {
    // Called just before the request is written; nothing is written when it is aborted here.
    onRequestStart: (started) => {
      if (isSettled) started.abort(new SendFault("timeout"));
      else controller = started;
    },
    onResponseStart: (_controller, status, headers) => {
      // A 1xx only announces the reply.
      if (status >= 200) head = { status, headers };
    },
    onResponseData: (_controller, chunk) => {
      receivedBytes += chunk.length;
      if (receivedBytes > REPLY_BYTES_MAX) fail("too_large");
      else received.push(chunk);
    },
    onResponseEnd: () => {
      if (isSettled || head === null) return;
      settle({
        kind: "reply",
        status: head.status,
        json: parseJson(Buffer.concat(received)),
        retryAfterMs: toRetryAfterMs(toText(head.headers["retry-after"]), deps.clock.now()),
        requestId: toRequestId(head.headers),
      });
    },
    onResponseError: (_controller, error) => {
      // The request is ours to build, so one that cannot be written is a bug; its text may hold a header.
      if (isMisuse(error)) reject(new Error("a request to a scheduling system could not be written"));
      const facts = { isTls: deps.isTls, wasConnected: controller !== null, isEnded: controller !== null };
      fail(toFailureCode(error, facts));
    },
  });
  return promise;
}

function toBody(body: OutboundRequest["body"]): { type: string | null; body: string | null } {
  if (body === null) return { type: null, body: null };
  if ("json" in body) return { type: "application/json", body: JSON.stringify(body.json) };
  return { type: "application/x-www-form-urlencoded", body: new URLSearchParams(body.form).toString() };
}

/** A time limit that ran out is a fault of the system; a caller that went away is not. */
function toAbortCode(signal: AbortSignal): "timeout" | "aborted" {
  return signal.reason instanceof Error && signal.reason.name === "TimeoutError" ? "timeout" : "aborted";
}

function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString("utf8"));
  } catch {
    // Whoever reads the reply compares it with the shape it should have, and `undefined` has none.
    return undefined;
  }
}

function toRetryAfterMs(header: string | null, now: Date): number | null {
  const seconds = parseRetryAfter(header, now);
  return seconds === null ? null : Math.ceil(seconds * 1_000);
}

/** Microsoft's and cal.com's names for it; only what such an id is made of, since it is stored and shown. */
function toRequestId(headers: Readonly<Record<string, string | string[] | undefined>>): string | null {
  const text = toText(headers["request-id"]) ?? toText(headers["x-request-id"]);
  return text?.replace(/[^\w.:-]/g, "").slice(0, REQUEST_ID_LENGTH_MAX) || null;
}

function toText(header: string | string[] | undefined): string | null {
  return (Array.isArray(header) ? header[0] : header) ?? null;
}
