import type { EndpointKind } from "./endpoint.ts";

// How an attempt ended, in words: the same in the log, in notices and on the command line.

export const FAILURE_WORDS: Readonly<Record<SendFailureCode, string>> = {
  timeout: "Timed out",
  dns_error: "Host name not found on the public internet",
  connection_refused: "Connection refused",
  connection_reset: "Connection reset",
  tls_error: "Invalid TLS certificate",
  blocked_address: "Not a public address",
  invalid_response: "Not a valid HTTP response",
  response_headers_too_large: "Response headers over 16 KiB",
  network_error: "Network error",
};

type AttemptEnd = {
  readonly kind: EndpointKind;
  readonly status: number | null;
  readonly errorCode: AttemptErrorCode | null;
  /** What is wrong with a response that isn't valid HTTP. */
  readonly responseFault?: string | null;
};

/** "HTTP 503", "Timed out". */
export function describeAttempt({ kind, status, errorCode, responseFault = null }: AttemptEnd): string {
  switch (errorCode) {
    case null:
      if (status === null) return "No response yet";
      // The workflow runs afterwards and may still fail.
      return kind === "teams" && status === 202 ? "HTTP 202, accepted by Teams" : `HTTP ${status}`;
    case "http_status":
      return `HTTP ${status}`;
    case "redirect":
      return `HTTP ${status} (redirects aren’t followed)`;
    case "reply_body":
      return `HTTP ${status}, but the response says that nothing was posted`;
    case "held_back":
      return "Not sent: the endpoint was failing and had a backlog";
    case "interrupted":
      return "Interrupted on our side. The request may have arrived";
    case "secret_unreadable":
      return "Not sent: Bookflow can’t decrypt the signing secret";
    case "payload_erased":
      return "Not sent: the booking was erased";
    default: {
      const failure = status === null ? FAILURE_WORDS[errorCode] : `HTTP ${status}, then: ${FAILURE_WORDS[errorCode]}`;
      return responseFault === null ? failure : `${failure} (${responseFault})`;
    }
  }
}

/** Why a request to a receiver or a scheduling system got no complete reply. */
export const SEND_FAILURE_CODES = [
  "timeout",
  /** The name has no address, or one that we don't send to: see sending/guarded-connector.ts. */
  "dns_error",
  "connection_refused",
  "connection_reset",
  "tls_error",
  /** The host is an address, and we don't send to it. */
  "blocked_address",
  "invalid_response",
  "response_headers_too_large",
  "network_error",
] as const;
export type SendFailureCode = (typeof SEND_FAILURE_CODES)[number];

/** queued → delivered | retrying → … → delivered | failed; canceled when it must no longer be sent. */
export const DELIVERY_STATES = ["queued", "retrying", "delivered", "failed", "canceled"] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];

export const CANCEL_REASONS = ["endpoint_disabled", "endpoint_removed", "plan", "erased"] as const;
export type CancelReason = (typeof CANCEL_REASONS)[number];

export const ATTEMPT_TRIGGERS = ["automatic", "manual"] as const;
export type AttemptTrigger = (typeof ATTEMPT_TRIGGERS)[number];

/** `interrupted`: the sending process died before it could record the outcome; the receiver may have got the request. */
export const ATTEMPT_RESULTS = ["delivered", "failed", "interrupted"] as const;
export type AttemptResult = (typeof ATTEMPT_RESULTS)[number];

/** Why an attempt failed. The last three are not the receiver's fault. */
export const ATTEMPT_ERROR_CODES = [
  ...SEND_FAILURE_CODES,
  "http_status",
  "redirect",
  "reply_body",
  "held_back",
  "interrupted",
  "secret_unreadable",
  "payload_erased",
] as const;
export type AttemptErrorCode = (typeof ATTEMPT_ERROR_CODES)[number];

/** What the log keeps of an attempt besides its outcome. Times are milliseconds since the attempt began to connect. */
export type AttemptDetail = {
  readonly bodyBytes: number;
  /** When the request was signed, unix seconds; null for chat cards. */
  readonly signedAt: number | null;
  /** Signatures sent: two while a rotation overlaps. */
  readonly signatures: number;
  /** Names of the endpoint's custom headers; their values are never logged. */
  readonly headerNames?: readonly string[];
  readonly remoteAddress?: string;
  /** Null parts did not happen: the connection was reused, the host is an address, or there is no TLS. */
  readonly timings: {
    readonly lookupMs: number | null;
    readonly connectMs: number | null;
    readonly tlsMs: number | null;
    readonly firstByteMs: number | null;
  };
  readonly responseHeaders?: Readonly<Record<string, string>>;
  /** Why the response isn't valid HTTP, in the parser's words. Holds nothing of the response. */
  readonly responseFault?: string;
};

export const REDELIVERY_STATES = ["running", "finished", "canceled"] as const;
export type RedeliveryState = (typeof REDELIVERY_STATES)[number];

export const REDELIVERABLE_STATES = ["failed", "canceled", "delivered"] as const;
export type RedeliverableState = (typeof REDELIVERABLE_STATES)[number];

/** Which deliveries a bulk redelivery queues: all of these conditions. Instants are ISO strings. */
export type RedeliveryFilter = {
  readonly states: readonly RedeliverableState[];
  readonly from: string;
  /** Deliveries created before then. */
  readonly to: string;
  readonly endpoint?: string;
  readonly widget?: string;
  readonly error?: AttemptErrorCode;
};

export const NOTICE_KINDS = ["exhausted", "disabling_soon", "disabled"] as const;
export type NoticeKind = (typeof NOTICE_KINDS)[number];

/** How long events, deliveries and attempts are kept. */
export const DELIVERY_LOG_DAYS = 30;
