import type { EndpointId } from "#contract/ids.ts";
import { WEBHOOK_HEADERS, WEBHOOK_USER_AGENT, type WebhookEventType } from "#contract/webhook-event.ts";
import { assert } from "../lib/assert.ts";
import { ConnectionPool, toSocketFacts } from "../sending/connection-pool.ts";
import type { GuardSettings } from "../sending/guarded-connector.ts";
import { isMisuse, type SendFailureCode, SendFault, toFailureCode } from "../sending/send-failure.ts";
import { ReplyReader } from "./reply-reader.ts";

// The only place that sends webhooks; scheduler/outbound.ts is its like for scheduling systems. Three promises:
//
// 1. No byte reaches an address the rules refuse: see guarded-connector.ts.
// 2. One time limit covers waiting for DNS, TCP, TLS, the status line, the headers and the body.
// 3. A reply costs bounded memory and traffic: 16 KiB of headers, 64 KiB of body read, 4 KiB kept, 256 KiB on the wire
//    whatever it is made of; nothing is decompressed, and no redirect is followed.

export type SendResult =
  | {
      readonly kind: "reply";
      readonly status: number;
      /** The start of the body as text PostgreSQL takes; see reply-reader.ts. */
      readonly body: string;
      readonly truncated: boolean;
      readonly retryAfter: string | null;
      readonly durationMs: number;
      readonly remoteAddress: string;
    }
  | {
      readonly kind: "failure";
      readonly code: SendFailureCode;
      /** The status that had arrived when the rest of the reply failed. */
      readonly status: number | null;
      readonly durationMs: number;
      /** Null when no connection was made. */
      readonly remoteAddress: string | null;
    };

export type OutboundPost = {
  readonly url: string;
  /** Sockets are not shared between endpoints. */
  readonly endpointId: EndpointId;
  /** Sent as they are. */
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
  /** Waits for the sends under way (the time limit ends each) and closes every socket. */
  close(): Promise<void>;
};

/** After this much of a body the socket is closed; the reply counts as it stands. */
export const REPLY_READ_BYTES_MAX = 64 * 1_024;
/**
 * Announcements (1xx) and chunk headers count neither as headers nor as body. This many bytes are more than the two limits
 * above and what Node reads ahead, so an honest reply never gets here.
 */
const REPLY_WIRE_BYTES_MAX = 256 * 1_024;

export function createGuardedSend(settings: SendSettings): GuardedSend {
  const pool = new ConnectionPool(settings);
  const fixedHeaders = {
    "Content-Type": "application/json",
    "User-Agent": `${WEBHOOK_USER_AGENT} (+${settings.docsUrl})`,
    "Accept-Encoding": "identity",
  };
  return {
    send: async (post) =>
      exchange(pool, {
        url: new URL(post.url),
        endpointId: post.endpointId,
        headers: post.signed === null ? fixedHeaders : { ...fixedHeaders, ...toSignedHeaders(post.signed) },
        body: post.body,
        timeoutMs: settings.timeoutMs,
      }),
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

/** How an exchange ended: the reply is whole, enough of it was read, or a fault. Only a whole one leaves a usable socket. */
type Ending = "whole" | "cut" | SendFailureCode;

/** One POST and its outcome. undici's own time limits are off; the timer here is the only one. */
function exchange(
  pool: ConnectionPool,
  request: { url: URL; endpointId: EndpointId; headers: Record<string, string>; body: Buffer; timeoutMs: number },
): Promise<SendResult> {
  const startedAt = performance.now();
  const connection = pool.take(request.url.origin, request.endpointId);
  return new Promise((resolve, reject) => {
    const reply = new ReplyReader();
    let isSettled = false;

    function settle(ending: Ending): void {
      if (isSettled) return;
      isSettled = true;
      clearTimeout(deadline);
      const durationMs = Math.round(performance.now() - startedAt);
      resolve(toResult(ending, { reply, durationMs, remoteAddress: connection.remoteAddress }));
      connection.onOverflow = null;
      if (ending === "whole") pool.giveBack(connection);
      else pool.drop(connection);
    }

    const deadline = setTimeout(() => settle("timeout"), request.timeoutMs);
    connection.wireBytesLimit = (connection.socket?.bytesRead ?? 0) + REPLY_WIRE_BYTES_MAX;
    connection.onOverflow = () => settle("network_error");

    const { pathname, search } = request.url;
    connection.client.dispatch(
      { method: "POST", path: pathname + search, headers: request.headers, body: request.body },
      {
        // undici calls this just before it writes the request, and writes nothing when it is aborted here.
        onRequestStart: (controller) => {
          if (isSettled) controller.abort(new SendFault("timeout"));
        },
        onResponseStart: (_controller, status, headers) => {
          // A 1xx only announces the reply.
          if (status >= 200) reply.start(status, headers);
        },
        onResponseData: (_controller, chunk) => {
          reply.read(chunk);
          if (reply.readBytes > REPLY_READ_BYTES_MAX) settle("cut");
        },
        onResponseEnd: () => {
          reply.isComplete = true;
          settle("whole");
        },
        onResponseError: (_controller, error) => {
          if (isMisuse(error)) reject(new Error("undici refused the request", { cause: error }));
          settle(toFailureCode(error, toSocketFacts(connection)));
        },
      },
    );
  });
}

function toResult(
  ending: Ending,
  seen: { reply: ReplyReader; durationMs: number; remoteAddress: string | null },
): SendResult {
  const { reply, durationMs, remoteAddress } = seen;
  if (ending !== "whole" && ending !== "cut") {
    return { kind: "failure", code: ending, status: reply.status, durationMs, remoteAddress };
  }
  assert(reply.status !== null && remoteAddress !== null, "a reply has a status and came from somewhere");
  return { kind: "reply", status: reply.status, ...reply.toKept(), durationMs, remoteAddress };
}
