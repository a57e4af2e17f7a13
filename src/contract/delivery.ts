// States of a delivery (one event to one endpoint), and what the log says of its attempts.

/** queued → delivered | retrying → … → delivered | failed; canceled when nothing must be sent any more. */
export const DELIVERY_STATES = ["queued", "retrying", "delivered", "failed", "canceled"] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];

export type CancelReason = "endpoint_disabled" | "endpoint_removed" | "plan" | "erased";

export type AttemptTrigger = "automatic" | "manual";

/** `interrupted`: the process that sent it ended before it could say how it went; the receiver may have got it. */
export const ATTEMPT_RESULTS = ["in_flight", "delivered", "failed", "interrupted"] as const;
export type AttemptResult = (typeof ATTEMPT_RESULTS)[number];

export type NoticeKind = "exhausted" | "disabling_soon" | "disabled";

/** Attempts, deliveries and their events are kept this long. */
export const DELIVERY_LOG_DAYS = 30;
