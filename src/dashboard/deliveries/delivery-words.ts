import dayjs from "dayjs";
import type { AppDelivery } from "#contract/app/deliveries.ts";
import {
  type AttemptErrorCode,
  type DeliveryState,
  describeAttempt,
  FAILURE_WORDS,
} from "#contract/webhooks/delivery.ts";
import { formatRelative } from "../format.ts";

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
  "booking.cancelled": "Booking cancelled",
  "booking.rescheduled": "Booking moved",
  "booking.erased": "Booking erased",
  "endpoint.test": "Test",
};

export const CANCEL_WORDS: Record<NonNullable<AppDelivery["cancelReason"]>, string> = {
  endpoint_disabled: "The endpoint was off.",
  endpoint_removed: "The endpoint was deleted.",
  plan: "The plan didn’t include webhooks.",
  erased: "The booking was erased.",
};

export const ERROR_NAMES: Record<AttemptErrorCode, string> = {
  ...FAILURE_WORDS,
  http_status: "HTTP error status",
  redirect: "Redirect",
  reply_body: "Rejected in the response body",
  held_back: "Held back",
  interrupted: "Interrupted",
  secret_unreadable: "Secret can’t be decrypted",
  payload_erased: "Booking erased",
};

/** Details about a delivery beyond its state; may be empty. */
export function describeOutcome(delivery: AppDelivery): string {
  const { state, cancelReason, lastStatus, lastError, endpoint } = delivery;
  if (state === "canceled") return cancelReason === null ? "" : CANCEL_WORDS[cancelReason];
  if (lastStatus === null && lastError === null) return "";
  return describeAttempt({ kind: endpoint.kind, status: lastStatus, errorCode: lastError });
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
