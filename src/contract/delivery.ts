import { SEND_FAILURE_CODES } from "./send-failure.ts";

// States of a delivery (one event to one endpoint) and of its attempts.

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
  "interrupted",
  "secret_unreadable",
  "payload_erased",
] as const;
export type AttemptErrorCode = (typeof ATTEMPT_ERROR_CODES)[number];

export const NOTICE_KINDS = ["exhausted", "disabling_soon", "disabled"] as const;
export type NoticeKind = (typeof NOTICE_KINDS)[number];

/** How long events, deliveries and attempts are kept. */
export const DELIVERY_LOG_DAYS = 30;
