import dayjs from "dayjs";
import type { AppAttempt, AppDelivery } from "#contract/app/deliveries.ts";
import type { AttemptErrorCode, DeliveryState } from "#contract/delivery.ts";
import type { SendFailureCode } from "#contract/send-failure.ts";
import { formatRelative } from "../format.ts";

// What the delivery log says, in words.

export const STATE_NAMES: Record<DeliveryState, string> = {
  queued: "Waiting",
  retrying: "Retrying",
  delivered: "Delivered",
  failed: "Failed",
  canceled: "Canceled",
};

export const STATE_COLORS: Record<DeliveryState, string> = {
  queued: "petrol",
  retrying: "yellow",
  delivered: "green",
  failed: "red",
  canceled: "gray",
};

export const EVENT_NAMES: Record<AppDelivery["event"]["type"], string> = {
  "booking.created": "Booking created",
  "endpoint.test": "Test",
};

export const CANCEL_WORDS: Record<NonNullable<AppDelivery["cancelReason"]>, string> = {
  endpoint_disabled: "The endpoint was switched off.",
  endpoint_removed: "The endpoint was removed.",
  plan: "The plan did not include webhooks.",
  erased: "The booking was erased.",
};

/** Of receivers, and of scheduling systems. */
export const FAILURE_WORDS: Readonly<Record<SendFailureCode, string>> = {
  timeout: "No answer in time",
  dns_error: "The host name could not be looked up",
  connection_refused: "The connection was refused",
  connection_reset: "The connection broke off",
  tls_error: "The certificate was not accepted",
  blocked_address: "The host leads to an address that is not public",
  network_error: "The network failed",
};

/** "Answered 503", "No answer in time". */
function describeReply(about: { status: number | null; errorCode: AttemptErrorCode | null }): string {
  const { status, errorCode } = about;
  switch (errorCode) {
    case null:
      return status === null ? "No answer yet" : `Answered ${status}`;
    case "http_status":
      return `Answered ${status}`;
    case "redirect":
      return `Answered ${status}, a redirect; those are not followed`;
    case "reply_body":
      return `Answered ${status}, but the reply says that nothing was posted`;
    case "interrupted":
      return "Cut off on our side; it may have arrived";
    case "secret_unreadable":
      return "Not sent: Bookflow cannot read the signing secret";
    case "payload_erased":
      return "Not sent: the booking was erased";
    default:
      return status === null ? FAILURE_WORDS[errorCode] : `${FAILURE_WORDS[errorCode]}, after status ${status}`;
  }
}

export function describeAttempt(attempt: Pick<AppAttempt, "result" | "status" | "errorCode">): string {
  return describeReply(attempt);
}

/** What is known of a delivery beside its state; empty where the state says it all. */
export function describeOutcome(delivery: AppDelivery): string {
  const { state, cancelReason, lastStatus, lastError } = delivery;
  if (state === "canceled") return cancelReason === null ? "" : CANCEL_WORDS[cancelReason];
  if (lastStatus === null && lastError === null) return "";
  return describeReply({ status: lastStatus, errorCode: lastError });
}

/** When the next attempt comes; a worker may be a moment late. */
export function describeDue(at: string): string {
  return dayjs(at).isAfter(dayjs()) ? `Next attempt ${formatRelative(at)}` : "Next attempt due";
}

/** 87 ms, 1.4 s */
export function formatDuration(durationMs: number): string {
  return durationMs < 1_000 ? `${durationMs} ms` : `${(durationMs / 1_000).toFixed(1)} s`;
}
