import type { SendFailureCode } from "#contract/send-failure.ts";
import type { Clock } from "../lib/clock.ts";
import { parseForeignJson } from "../lib/json-text.ts";
import { ConnectionPool } from "../sending/connection-pool.ts";
import { type Ending, exchange, type ReplyHeaders, type ReplySink } from "../sending/exchange.ts";
import type { GuardSettings } from "../sending/guarded-connector.ts";
import { parseRetryAfter } from "../sending/retry-after.ts";

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
  /** Undefined when the body is not JSON. Its texts are such as PostgreSQL can hold. */
  readonly json: unknown;
  readonly retryAfterMs: number | null;
  readonly requestId: string | null;
};

type NoReply = {
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
const REPLY_LIMITS = { bodyBytes: REPLY_BYTES_MAX, wireBytes: 2 * REPLY_BYTES_MAX };
const REQUEST_ID_LENGTH_MAX = 100;

export function createOutbound(deps: GuardSettings & { clock: Clock; docsUrl: string }): Outbound {
  const pool = new ConnectionPool(deps);
  const fixedHeaders = {
    Accept: "application/json",
    "Accept-Encoding": "identity",
    "User-Agent": `Bookflow/1.0 (+${deps.docsUrl})`,
  };
  return {
    send: async (request, callerSignal) => {
      if (callerSignal.aborted) return { kind: "failure", code: toAbortCode(callerSignal), wasSent: false };
      const signal = AbortSignal.any([callerSignal, AbortSignal.timeout(REQUEST_TIMEOUT_MS)]);
      const { type, body } = toBody(request.body);
      const headers = { ...fixedHeaders, ...(type === null ? {} : { "Content-Type": type }), ...request.headers };
      const { method } = request;
      const url = new URL(request.url);
      const reply = new CollectedReply();
      const wanted = { url, user: "scheduling", method, headers, body, signal, limits: REPLY_LIMITS };
      const { ending, wasSent } = await exchange(pool, wanted, reply);
      if (ending !== "whole") return { kind: "failure", code: toFailureCode(ending, signal), wasSent };
      return toReply(reply, deps.clock.now());
    },
    close: () => pool.close(),
  };
}

/** A reply as it arrives; whether it is whole, the exchange says. */
class CollectedReply implements ReplySink {
  status = 0;
  headers: ReplyHeaders = {};
  readonly chunks: Buffer[] = [];

  start(status: number, headers: ReplyHeaders): void {
    this.status = status;
    this.headers = headers;
  }

  read(chunk: Buffer): void {
    this.chunks.push(chunk);
  }
}

function toFailureCode(ending: Exclude<Ending, "whole">, signal: AbortSignal): NoReply["code"] {
  switch (ending) {
    case "given_up":
      return toAbortCode(signal);
    case "body_too_long":
    case "wire_too_long":
      return "too_large";
    default:
      return ending;
  }
}

function toReply({ status, headers, chunks }: CollectedReply, now: Date): HttpReply {
  const retryAfterSeconds = parseRetryAfter(toText(headers["retry-after"]), now);
  return {
    kind: "reply",
    status,
    json: parseJson(Buffer.concat(chunks)),
    retryAfterMs: retryAfterSeconds === null ? null : Math.ceil(retryAfterSeconds * 1_000),
    requestId: toRequestId(headers),
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
    return parseForeignJson(bytes.toString("utf8"));
  } catch {
    // Whoever reads the reply compares it with the shape it should have, and `undefined` has none.
    return undefined;
  }
}

/** Microsoft's and cal.com's names for it; only what such an id is made of, since it is stored and shown. */
function toRequestId(headers: ReplyHeaders): string | null {
  const text = toText(headers["request-id"]) ?? toText(headers["x-request-id"]);
  return text?.replace(/[^\w.:-]/g, "").slice(0, REQUEST_ID_LENGTH_MAX) || null;
}

function toText(header: string | string[] | undefined): string | null {
  return (Array.isArray(header) ? header[0] : header) ?? null;
}
