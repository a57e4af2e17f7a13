import { SEND_FAILURE_CODES } from "./send-failure.ts";

// States of a delivery (one event to one endpoint), and what the log says of its attempts.

/** queued → delivered | retrying → … → delivered | failed; canceled when nothing must be sent any more. */
export const DELIVERY_STATES = ["queued", "retrying", "delivered", "failed", "canceled"] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];

export const CANCEL_REASONS = ["endpoint_disabled", "endpoint_removed", "plan", "erased"] as const;
export type CancelReason = (typeof CANCEL_REASONS)[number];

export const ATTEMPT_TRIGGERS = ["automatic", "manual"] as const;
export type AttemptTrigger = (typeof ATTEMPT_TRIGGERS)[number];

/** `interrupted`: the process that sent it ended before it could say how it went; the receiver may have got it. */
export const ATTEMPT_RESULTS = ["in_flight", "delivered", "failed", "interrupted"] as const;
export type AttemptResult = (typeof ATTEMPT_RESULTS)[number];

/** Why an attempt did not deliver; of the last three the receiver knows nothing. */
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

/** Attempts, deliveries and their events are kept this long. */
export const DELIVERY_LOG_DAYS = 30;
