import type { TestDataShape } from "#contract/app/widgets.ts";
import { pluralize } from "../../format.ts";

export function hasTestData({ bookings, visits, deliveries }: TestDataShape): boolean {
  return bookings + visits + deliveries > 0;
}

/** "3 bookings, 12 visits and 1 delivery". */
export function describeTestData({ bookings, visits, deliveries }: TestDataShape): string {
  return `${pluralize(bookings, "booking")}, ${pluralize(visits, "visit")} and ${pluralize(deliveries, "delivery", "deliveries")}`;
}

export const LEAVING_LIVE =
  "Visitors can’t make real appointments any more. Existing appointments stay in your scheduling system.";
