import dayjs from "dayjs";
import type { AppDelivery } from "#contract/app/deliveries.ts";
import type { AttemptErrorCode, DeliveryState } from "#contract/delivery.ts";
import type { SendFailureCode } from "#contract/send-failure.ts";
import { formatRelative } from "../format.ts";

// The words of the delivery log.

export const STATE_NAMES: Record<DeliveryState, string> = {
  queued: "Queued",
  retrying: "Retrying",
  delivered: "Delivered",
  failed: "Failed",
  canceled: "Cancelled",
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
  endpoint_disabled: "The endpoint was off.",
  endpoint_removed: "The endpoint was deleted.",
  plan: "The plan didn’t include webhooks.",
  erased: "The booking was erased.",
};

/** Failures of requests to receivers and to scheduling systems. */
export const FAILURE_WORDS: Readonly<Record<SendFailureCode, string>> = {
  timeout: "Timed out",
  dns_error: "Host name not found",
  connection_refused: "Connection refused",
  connection_reset: "Connection reset",
  tls_error: "Invalid TLS certificate",
  blocked_address: "The host isn’t a public address",
  invalid_response: "Not a valid HTTP response",
  response_headers_too_large: "Response headers over 16 KiB",
  network_error: "Network error",
};

type Outcome = { status: number | null; errorCode: AttemptErrorCode | null };

/** "HTTP 503", "Timed out". */
export function describeAttempt({ status, errorCode }: Outcome): string {
  switch (errorCode) {
    case null:
      return status === null ? "No response yet" : `HTTP ${status}`;
    case "http_status":
      return `HTTP ${status}`;
    case "redirect":
      return `HTTP ${status} (redirects aren’t followed)`;
    case "reply_body":
      return `HTTP ${status}, but the response says that nothing was posted`;
    case "interrupted":
      return "Interrupted on our side. The request may have arrived";
    case "secret_unreadable":
      return "Not sent: Bookflow can’t decrypt the signing secret";
    case "payload_erased":
      return "Not sent: the booking was erased";
    default:
      return status === null ? FAILURE_WORDS[errorCode] : `${FAILURE_WORDS[errorCode]} after HTTP ${status}`;
  }
}

/** Details about a delivery beyond its state; may be empty. */
export function describeOutcome(delivery: AppDelivery): string {
  const { state, cancelReason, lastStatus, lastError } = delivery;
  if (state === "canceled") return cancelReason === null ? "" : CANCEL_WORDS[cancelReason];
  if (lastStatus === null && lastError === null) return "";
  return describeAttempt({ status: lastStatus, errorCode: lastError });
}

/** A worker may be a moment late, so an attempt can be overdue. */
export function describeDue(at: string): string {
  return dayjs(at).isAfter(dayjs()) ? `Next attempt ${formatRelative(at)}` : "Next attempt due";
}

const seconds = new Intl.NumberFormat(undefined, { minimumFractionDigits: 1, maximumFractionDigits: 1 });

/** 87 ms, 1.4 s */
export function formatDuration(durationMs: number): string {
  return durationMs < 1_000 ? `${durationMs} ms` : `${seconds.format(durationMs / 1_000)} s`;
}
