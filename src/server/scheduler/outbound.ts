import { setTimeout as sleep } from "node:timers/promises";
import type { SendFailureCode } from "#contract/webhooks/delivery.ts";
import { isTooComplex, parseForeignJson } from "../lib/text/json-text.ts";
import type { Clock } from "../lib/time/clock.ts";
import {
  ConnectionPool,
  type Ending,
  exchange,
  type GuardSettings,
  parseRetryAfter,
  type ReplyHeaders,
  type ReplySink,
} from "../sending/sending.ts";
import { REPLY_VALUES_MAX } from "./reply-limits.ts";
import type { ToldLimit } from "./request-budget.ts";

// Every request to a scheduling system goes through here: JSON over the connections that webhooks use, which
// never reach a blocked address. The caller's time limit and our own apply, replies are bounded, redirects are not followed
// and nothing is decompressed. A failure carries a code and whether the request may have reached the system, which decides
// what became of a booking. It never carries addresses, headers or bodies, so credentials cannot get into a log.

export type OutboundRequest = {
  readonly method: "GET" | "POST" | "DELETE";
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: null | { readonly json: unknown } | { readonly form: Readonly<Record<string, string>> };
};

export type OutboundReply = HttpReply | NoReply;

export type HttpReply = {
  readonly kind: "reply";
  readonly status: number;
  /** Undefined when the body is not JSON, or too complex to be read. All its texts can be stored in PostgreSQL. */
  readonly json: unknown;
  /** How long the system asks us to wait. */
  readonly retryAfterMs: number | null;
  readonly requestId: string | null;
  readonly toldLimit: ToldLimit | null;
};

type NoReply = {
  readonly kind: "failure";
  readonly code: SendFailureCode | "aborted" | "too_large";
  /** Whether the request may have reached the system. */
  readonly wasSent: boolean;
};

export type Outbound = {
  /** Never rejects, whatever the system or the network does. */
  send(request: OutboundRequest, signal: AbortSignal): Promise<OutboundReply>;
  close(): Promise<void>;
};

/** Longer than every limit that callers set; ends a request whose signal is never aborted. */
const REQUEST_TIMEOUT_MS = 30_000;
/** Several times the size of a month of availability for a hundred people. */
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
    send: async (request, signal) => {
      if (signal.aborted) return { kind: "failure", code: toAbortCode(signal), wasSent: false };
      const { type, body } = toBody(request.body);
      const headers = { ...fixedHeaders, ...(type === null ? {} : { "Content-Type": type }), ...request.headers };
      const { method } = request;
      const url = new URL(request.url);
      const reply = new CollectedReply();
      const limits = { timeoutMs: REQUEST_TIMEOUT_MS, signal, limits: REPLY_LIMITS };
      const wanted = { url, user: "scheduling", method, headers, body, ...limits };
      const { ending, wasSent } = await exchange(pool, wanted, reply);
      if (ending !== "whole") return { kind: "failure", code: toFailureCode(ending, signal), wasSent };
      return toReply(reply, deps.clock.now());
    },
    close: () => pool.close(),
  };
}

/** Collects a reply as it arrives; the exchange says whether it is complete. */
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
      return signal.aborted ? toAbortCode(signal) : "timeout";
    case "body_too_long":
    case "wire_too_long":
      return "too_large";
    default:
      return ending;
  }
}

function toReply({ status, headers, chunks }: CollectedReply, now: Date): HttpReply {
  const reset = status === 429 ? findRateLimitReset(headers, now) : null;
  const waitSeconds = parseRetryAfter(toText(headers["retry-after"]) ?? reset, now);
  return {
    kind: "reply",
    status,
    json: parseJson(Buffer.concat(chunks)),
    retryAfterMs: waitSeconds === null ? null : Math.ceil(waitSeconds * 1_000),
    requestId: toRequestId(headers),
    toldLimit: findToldLimit(headers, now),
  };
}

/** No delay is this long; a larger number is a Unix time. */
const DELAY_SECONDS_MAX = 1_000_000_000;

/**
 * Cal.com (`X-RateLimit-Reset-Default`) and Calendly (`X-RateLimit-Reset`) send the seconds until their limit resets
 * instead of Retry-After. With several limits, the longest wait counts.
 */
function findRateLimitReset(headers: ReplyHeaders, now: Date): string | null {
  const waits = Object.entries(headers).flatMap(([name, value]) => {
    const seconds = Number(toText(value) || Number.NaN);
    if (!/^x-ratelimit-reset(-|$)/i.test(name) || !Number.isFinite(seconds)) return [];
    return [seconds > DELAY_SECONDS_MAX ? seconds - now.getTime() / 1_000 : seconds];
  });
  return waits.length === 0 ? null : String(Math.max(0, Math.ceil(Math.max(...waits))));
}

/** The limit of all requests, which Cal.com calls "default". Limits with other names are for single operations. */
function findToldLimit(headers: ReplyHeaders, now: Date): ToldLimit | null {
  const read = (what: string): number => {
    const names = [`x-ratelimit-${what}-default`, `x-ratelimit-${what}`, `ratelimit-${what}`];
    return Number(names.map((name) => toText(headers[name])).find((text) => text !== null) || Number.NaN);
  };
  const [limit, remaining, reset] = [read("limit"), read("remaining"), read("reset")];
  if (!(limit > 0 && remaining >= 0 && reset >= 0)) return null;
  const resetSeconds = reset > DELAY_SECONDS_MAX ? Math.max(0, reset - now.getTime() / 1_000) : reset;
  return { limit, remaining, resetMs: resetSeconds * 1_000 };
}

function toBody(body: OutboundRequest["body"]): { type: string | null; body: string | null } {
  if (body === null) return { type: null, body: null };
  if ("json" in body) return { type: "application/json", body: JSON.stringify(body.json) };
  return { type: "application/x-www-form-urlencoded", body: new URLSearchParams(body.form).toString() };
}

/** A time limit that ran out is the system's fault; a caller that left is not. */
export function toAbortCode(signal: AbortSignal): "timeout" | "aborted" {
  return signal.reason instanceof Error && signal.reason.name === "TimeoutError" ? "timeout" : "aborted";
}

/** Undefined if it isn't JSON, or too complex to be read. */
export function parseJson(bytes: Buffer): unknown {
  const text = bytes.toString("utf8");
  if (isTooComplex(text, REPLY_VALUES_MAX)) return undefined;
  try {
    return parseForeignJson(text);
  } catch {
    // Every reader checks the shape of the reply, and `undefined` fits none.
    return undefined;
  }
}

/** Stored and shown, so reduced to the characters that such ids use. */
function toRequestId(headers: ReplyHeaders): string | null {
  const text = toText(headers["request-id"]) ?? toText(headers["x-request-id"]);
  return text?.replace(/[^\w.:-]/g, "").slice(0, REQUEST_ID_LENGTH_MAX) || null;
}

function toText(header: string | string[] | undefined): string | null {
  return (Array.isArray(header) ? header[0] : header) ?? null;
}

const THROTTLED = 429;
/** A longer wait doesn't fit into the time of a visitor's request. */
export const WAIT_MS_MAX = 5_000;
const WAIT_FALLBACK_MS = 1_000;
const RETRIES_MAX = 3;

/** A throttled request was not processed, so it is sent again after the wait that the system asks for, if that is short. */
export async function sendWithRetry(
  outbound: Outbound,
  request: OutboundRequest,
  signal: AbortSignal,
): Promise<OutboundReply> {
  let reply = await outbound.send(request, signal);
  for (let retries = 0; retries < RETRIES_MAX; retries++) {
    if (reply.kind !== "reply" || reply.status !== THROTTLED) return reply;
    const waitMs = reply.retryAfterMs ?? WAIT_FALLBACK_MS;
    if (waitMs > WAIT_MS_MAX) return reply;
    // The only rejection is the abort of the signal.
    await sleep(waitMs, undefined, { signal }).catch(() => undefined);
    if (signal.aborted) return reply;
    reply = await outbound.send(request, signal);
  }
  return reply;
}
