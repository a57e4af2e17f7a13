import { SEND_FAILURE_CODES } from "./send-failure.ts";

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
