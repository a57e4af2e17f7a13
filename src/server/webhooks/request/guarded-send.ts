import type { EndpointId } from "#contract/ids.ts";
import type { SendFailureCode } from "#contract/send-failure.ts";
import { WEBHOOK_HEADERS, WEBHOOK_USER_AGENT, type WebhookEventType } from "#contract/webhook-event.ts";
import { assert } from "../../lib/assert.ts";
import { ConnectionPool } from "../../sending/connection-pool.ts";
import { type Ending, type ExchangeRequest, exchange } from "../../sending/exchange.ts";
import type { GuardSettings } from "../../sending/guarded-connector.ts";
import { ReplyReader } from "./reply-reader.ts";

// The only place that sends webhooks (scheduler/outbound.ts does the same for scheduling systems). Three promises:
//
// 1. No byte reaches an address that the rules refuse: see guarded-connector.ts.
// 2. One time limit covers waiting for DNS, TCP, TLS, the status line, the headers and the body.
// 3. A reply costs bounded memory and traffic: 16 KiB of headers, 64 KiB of body read, 4 KiB kept, 256 KiB on the wire
//    whatever it is made of; nothing is decompressed, and no redirect is followed.

export type SendResult =
  | {
      readonly kind: "reply";
      readonly status: number;
      /** The start of the body as text that PostgreSQL accepts; see reply-reader.ts. */
      readonly body: string;
      readonly truncated: boolean;
      readonly retryAfter: string | null;
      /** Why the body is incomplete; null when it is complete or longer than what is read. */
      readonly brokenOff: SendFailureCode | null;
      readonly durationMs: number;
    }
  /** No status arrived. */
  | { readonly kind: "failure"; readonly code: SendFailureCode; readonly durationMs: number };

export type OutboundPost = {
  readonly url: string;
  /** Sockets are not shared between endpoints. */
  readonly endpointId: EndpointId;
  /** Sent unchanged. */
  readonly body: Buffer;
  /** The contract's headers of a signed delivery; null for cards, which are not signed. */
  readonly signed: {
    readonly eventType: WebhookEventType;
    readonly deliveryId: string;
    readonly signature: string;
  } | null;
};

export type SendSettings = GuardSettings & { readonly timeoutMs: number; readonly docsUrl: string };

export type GuardedSend = {
  /** Never rejects for anything the receiver or the network does. */
  send(post: OutboundPost): Promise<SendResult>;
  /** Waits for sends in progress (the time limit ends each) and closes every socket. */
  close(): Promise<void>;
};

/** The socket is closed after this much of a body; the reply counts as it is. */
export const REPLY_READ_BYTES_MAX = 64 * 1_024;
const REPLY_LIMITS = { bodyBytes: REPLY_READ_BYTES_MAX, wireBytes: 256 * 1_024 };

export function createGuardedSend(settings: SendSettings): GuardedSend {
  const pool = new ConnectionPool(settings);
  const fixedHeaders = {
    "Content-Type": "application/json",
    "User-Agent": `${WEBHOOK_USER_AGENT} (+${settings.docsUrl})`,
    "Accept-Encoding": "identity",
  };
  return {
    send: async ({ url, endpointId, body, signed }) => {
      const headers = signed === null ? fixedHeaders : { ...fixedHeaders, ...toSignedHeaders(signed) };
      return await post(pool, { url: new URL(url), user: endpointId, headers, body }, settings.timeoutMs);
    },
    close: () => pool.close(),
  };
}

function toSignedHeaders(signed: NonNullable<OutboundPost["signed"]>): Record<string, string> {
  return {
    [WEBHOOK_HEADERS.eventType]: signed.eventType,
    [WEBHOOK_HEADERS.deliveryId]: signed.deliveryId,
    [WEBHOOK_HEADERS.signature]: signed.signature,
  };
}

async function post(
  pool: ConnectionPool,
  request: Pick<ExchangeRequest, "url" | "user" | "headers" | "body">,
  timeoutMs: number,
): Promise<SendResult> {
  const startedAt = performance.now();
  const reply = new ReplyReader();
  const { ending } = await exchange(pool, { ...request, method: "POST", timeoutMs, limits: REPLY_LIMITS }, reply);
  const durationMs = Math.round(performance.now() - startedAt);
  const fault = toFault(ending);
  const { status } = reply;
  if (status !== null) {
    return { kind: "reply", status, ...reply.toKept({ isComplete: ending === "whole" }), brokenOff: fault, durationMs };
  }
  assert(fault, "a reply has a status");
  return { kind: "failure", code: fault, durationMs };
}

function toFault(ending: Ending): SendFailureCode | null {
  switch (ending) {
    case "whole":
    case "body_too_long":
      return null;
    case "given_up":
      return "timeout";
    case "wire_too_long":
      return "network_error";
    default:
      return ending;
  }
}
