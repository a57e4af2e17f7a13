import type { Dispatcher } from "undici";
import type { Clock } from "../lib/clock.ts";
import { ConnectionPool, toSocketFacts } from "../sending/connection-pool.ts";
import type { GuardSettings } from "../sending/guarded-connector.ts";
import { parseRetryAfter } from "../sending/retry-after.ts";
import { isMisuse, type SendFailureCode, SendFault, toFailureCode } from "../sending/send-failure.ts";

// The one way to an external scheduling system: JSON over the connections that webhooks use, which reach no address the
// rules refuse; under the caller's time limit and our own, with a bounded reply, no redirect followed and nothing
// decompressed. A failure is a code and the one fact that decides what a booking became: whether the request may have
// reached the system. Neither addresses nor headers nor bodies are ever part of it, so credentials cannot get into a log.

export type OutboundRequest = {
  readonly method: "GET" | "POST";
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: null | { readonly json: unknown } | { readonly form: Readonly<Record<string, string>> };
};

export type OutboundReply = HttpReply | NoReply;

export type HttpReply = {
  readonly kind: "reply";
  readonly status: number;
  /** Undefined when the body is not JSON. */
  readonly json: unknown;
  readonly retryAfterMs: number | null;
  readonly requestId: string | null;
};

export type NoReply = {
  readonly kind: "failure";
  readonly code: SendFailureCode | "aborted" | "too_large";
  /** Whether the request may have reached the system. */
  readonly wasSent: boolean;
};

export type Outbound = {
  /** Never rejects for anything the system or the network does. */
  send(request: OutboundRequest, signal: AbortSignal): Promise<OutboundReply>;
  close(): Promise<void>;
};

/** Above every limit that callers set: a signal that is never aborted does not keep a request for ever. */
const REQUEST_TIMEOUT_MS = 30_000;
/** A month of availability of a hundred people fits several times. */
const REPLY_BYTES_MAX = 8 * 1024 * 1024;
/** Whatever a reply is made of, chunk headers and announcements included. */
const REPLY_WIRE_BYTES_MAX = 2 * REPLY_BYTES_MAX;
const REQUEST_ID_LENGTH_MAX = 100;

export function createOutbound(deps: GuardSettings & { clock: Clock; docsUrl: string }): Outbound {
  const pool = new ConnectionPool(deps);
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
        path: url.pathname + url.search,
        method: request.method,
        headers: { ...fixedHeaders, ...(type === null ? {} : { "Content-Type": type }), ...request.headers },
        body,
      };
      const ending = await exchange(pool, {
        options,
        origin: url.origin,
        signal: AbortSignal.any([signal, AbortSignal.timeout(REQUEST_TIMEOUT_MS)]),
      });
      return ending.kind === "failure" ? ending : toReply(ending, deps.clock.now());
    },
    close: () => pool.close(),
  };
}

type Headers = Readonly<Record<string, string | string[] | undefined>>;
type Whole = { kind: "whole"; status: number; headers: Headers; body: Buffer };

function exchange(
  pool: ConnectionPool,
  request: { options: Dispatcher.DispatchOptions; origin: string; signal: AbortSignal },
): Promise<Whole | NoReply> {
  const { signal } = request;
  const connection = pool.take(request.origin, "scheduling");
  return new Promise((resolve, reject) => {
    let isSettled = false;
    let wasSent = false;
    let head: { status: number; headers: Headers } | null = null;
    let bodyBytes = 0;
    const chunks: Buffer[] = [];

    function settle(ending: Whole | NoReply): void {
      if (isSettled) return;
      isSettled = true;
      signal.removeEventListener("abort", onAbort);
      connection.onOverflow = null;
      resolve(ending);
      if (ending.kind === "whole") pool.giveBack(connection);
      else pool.drop(connection);
    }
    const fail = (code: NoReply["code"]): void => settle({ kind: "failure", code, wasSent });
    const onAbort = (): void => fail(toAbortCode(signal));

    signal.addEventListener("abort", onAbort, { once: true });
    connection.wireBytesLimit = (connection.socket?.bytesRead ?? 0) + REPLY_WIRE_BYTES_MAX;
    connection.onOverflow = () => fail("too_large");
    connection.client.dispatch(request.options, {
      // undici calls this just before it writes the request, and writes nothing when it is aborted here.
      onRequestStart: (controller) => {
        if (isSettled) controller.abort(new SendFault("timeout"));
        else wasSent = true;
      },
      onResponseStart: (_controller, status, headers) => {
        // A 1xx only announces the reply.
        if (status >= 200) head = { status, headers };
      },
      onResponseData: (_controller, chunk) => {
        bodyBytes += chunk.length;
        if (bodyBytes > REPLY_BYTES_MAX) fail("too_large");
        else chunks.push(chunk);
      },
      onResponseEnd: () => {
        if (head === null) fail("network_error");
        else settle({ kind: "whole", ...head, body: Buffer.concat(chunks) });
      },
      onResponseError: (_controller, error) => {
        // Without its cause: undici puts the header it could not write into the message.
        if (isMisuse(error)) reject(new Error("undici refused a request to a scheduling system"));
        fail(toFailureCode(error, toSocketFacts(connection)));
      },
    });
  });
}

function toReply(whole: Whole, now: Date): HttpReply {
  const retryAfterSeconds = parseRetryAfter(toText(whole.headers["retry-after"]), now);
  return {
    kind: "reply",
    status: whole.status,
    json: parseJson(whole.body),
    retryAfterMs: retryAfterSeconds === null ? null : Math.ceil(retryAfterSeconds * 1_000),
    requestId: toRequestId(whole.headers),
  };
}

function toBody(body: OutboundRequest["body"]): { type: string | null; body: string | null } {
  if (body === null) return { type: null, body: null };
  if ("json" in body) return { type: "application/json", body: JSON.stringify(body.json) };
  return { type: "application/x-www-form-urlencoded", body: new URLSearchParams(body.form).toString() };
}

/** A time limit that ran out is a fault of the system; a caller that went away is not. */
export function toAbortCode(signal: AbortSignal): "timeout" | "aborted" {
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

/** Microsoft's and cal.com's names for it; only what such an id is made of, since it is stored and shown. */
function toRequestId(headers: Headers): string | null {
  const text = toText(headers["request-id"]) ?? toText(headers["x-request-id"]);
  return text?.replace(/[^\w.:-]/g, "").slice(0, REQUEST_ID_LENGTH_MAX) || null;
}

function toText(header: string | string[] | undefined): string | null {
  return (Array.isArray(header) ? header[0] : header) ?? null;
}
