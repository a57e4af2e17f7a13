import type { EndpointId } from "#contract/ids.ts";
import type { AttemptDetail, SendFailureCode } from "#contract/webhooks/delivery.ts";
import {
  STANDARD_WEBHOOK_HEADERS,
  TEST_BOOKING_HEADER,
  WEBHOOK_HEADERS,
  WEBHOOK_USER_AGENT,
  type WebhookEventType,
} from "#contract/webhooks/webhook-event.ts";
import { assert } from "../../lib/assert.ts";
import {
  ConnectionPool,
  type Ending,
  type Exchanged,
  type ExchangeRequest,
  exchange,
  type GuardSettings,
} from "../../sending/sending.ts";
import { ReplyReader } from "./reply-reader.ts";

// The only place that sends webhooks (scheduler/outbound.ts does the same for scheduling systems). Three promises:
//
// 1. No byte reaches an address that the rules refuse: see guarded-connector.ts.
// 2. One time limit covers waiting for DNS, TCP, TLS, the status line, the headers and the body.
// 3. A reply costs bounded memory and traffic: its headers, what is read and kept of its body, and all its bytes on the wire have
//    limits. Nothing is decompressed, and no redirect is followed.

/** What the log shows of a request besides its outcome. */
type SendTrace = {
  readonly remoteAddress: string | null;
  readonly timings: AttemptDetail["timings"];
  /** Null without a reply. */
  readonly replyHeaders: Readonly<Record<string, string>> | null;
  readonly replyFault: string | null;
};

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
      readonly trace: SendTrace;
    }
  /** No status arrived. */
  | {
      readonly kind: "failure";
      readonly code: SendFailureCode;
      readonly durationMs: number;
      readonly trace: SendTrace;
    };

export type OutboundPost = {
  readonly url: string;
  /** Sockets are not shared between endpoints. */
  readonly endpointId: EndpointId;
  /** Sent unchanged. */
  readonly body: Buffer;
  /** Null for cards, which are not signed. */
  readonly signed: SignedFacts | null;
  /** The endpoint's custom headers; checked when they were saved. */
  readonly customHeaders: Readonly<Record<string, string>>;
};

type SignedFacts = {
  readonly eventType: WebhookEventType;
  readonly eventId: string;
  readonly deliveryId: string;
  readonly isTestBooking: boolean;
  readonly signatures: {
    readonly unixSeconds: number;
    /** For Service-Signature. */
    readonly contract: string;
    /** For webhook-signature. */
    readonly standard: string;
  };
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
  const fixedHeaders = toFixedHeaders(settings.docsUrl);
  return {
    send: async ({ url, endpointId, body, signed, customHeaders }) => {
      const headers = { ...fixedHeaders, ...(signed === null ? {} : toSignedHeaders(signed)), ...customHeaders };
      return await post(pool, { url: new URL(url), user: endpointId, headers, body }, settings.timeoutMs);
    },
    close: () => pool.close(),
  };
}

/** The log shows the same headers again, with masked signatures. */
export function toFixedHeaders(docsUrl: string): Record<string, string> {
  return {
    "Content-Type": "application/json",
    "User-Agent": `${WEBHOOK_USER_AGENT} (+${docsUrl})`,
    "Accept-Encoding": "identity",
  };
}

export function toSignedHeaders({
  eventType,
  eventId,
  deliveryId,
  isTestBooking,
  signatures,
}: SignedFacts): Record<string, string> {
  return {
    [WEBHOOK_HEADERS.eventType]: eventType,
    ...(isTestBooking ? TEST_BOOKING_HEADER : {}),
    [WEBHOOK_HEADERS.deliveryId]: deliveryId,
    [WEBHOOK_HEADERS.signature]: signatures.contract,
    [STANDARD_WEBHOOK_HEADERS.id]: eventId,
    [STANDARD_WEBHOOK_HEADERS.timestamp]: String(signatures.unixSeconds),
    [STANDARD_WEBHOOK_HEADERS.signature]: signatures.standard,
  };
}

async function post(
  pool: ConnectionPool,
  request: Pick<ExchangeRequest, "url" | "user" | "headers" | "body">,
  timeoutMs: number,
): Promise<SendResult> {
  const startedAt = performance.now();
  const reply = new ReplyReader();
  const exchanged = await exchange(pool, { ...request, method: "POST", timeoutMs, limits: REPLY_LIMITS }, reply);
  const durationMs = Math.round(performance.now() - startedAt);
  const fault = toFault(exchanged.ending);
  const { status } = reply;
  if (status !== null) {
    const { headers, ...kept } = reply.toKept({ isComplete: exchanged.ending === "whole" });
    const trace = toTrace(exchanged, { startedAt, replyHeaders: headers });
    return { kind: "reply", status, ...kept, brokenOff: fault, durationMs, trace };
  }
  assert(fault, "a reply has a status");
  return { kind: "failure", code: fault, durationMs, trace: toTrace(exchanged, { startedAt, replyHeaders: null }) };
}

function toTrace(
  { remoteAddress, opening, repliedAt, replyFault }: Exchanged,
  { startedAt, replyHeaders }: { startedAt: number; replyHeaders: SendTrace["replyHeaders"] },
): SendTrace {
  const firstByteMs = repliedAt === null ? null : Math.round(repliedAt - startedAt);
  const { lookupMs, connectMs, tlsMs } = opening ?? REUSED;
  return { remoteAddress, timings: { lookupMs, connectMs, tlsMs, firstByteMs }, replyHeaders, replyFault };
}

const REUSED = { lookupMs: null, connectMs: null, tlsMs: null } as const;

function toFault(ending: Ending): SendFailureCode | null {
  switch (ending) {
    case "whole":
    case "body_too_long":
      return null;
    case "given_up":
      return "timeout";
    case "wire_too_long":
      return "invalid_response";
    default:
      return ending;
  }
}
