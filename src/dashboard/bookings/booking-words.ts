import { BOOKING_STATUS_CANCELLED } from "#contract/booking.ts";
import type { ChangeType } from "#contract/booking-changes.ts";

export function describeStatus(status: string): string {
  return `${status.charAt(0).toUpperCase()}${status.slice(1)}`;
}

export function toStatusColor(status: string): string {
  return status === BOOKING_STATUS_CANCELLED ? "gray" : "green";
}

export const CHANGE_NAMES: Record<ChangeType, string> = { cancelled: "Cancelled", rescheduled: "Moved" };
