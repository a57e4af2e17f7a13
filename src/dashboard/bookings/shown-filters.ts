import dayjs from "dayjs";
import type { BookingFilters } from "../api/bookings.ts";
import { toDay } from "../day-range.ts";
import { toInstant } from "../zoned-time.ts";

/** The list's query parameters: search text, widget, first and last day of booking. */
export const FILTER_DEFAULTS = { search: "", widget: "", from: "", to: "" };
export type ShownFilters = typeof FILTER_DEFAULTS;

/** Days are in the organization's time zone. The server takes instants and excludes the last one. */
export function toBookingFilters({ search, widget, from, to }: ShownFilters, timeZone: string): BookingFilters {
  const [first, last] = [toDay(from), toDay(to)];
  const dayAfter = last === null ? "" : dayjs(last).add(1, "day").format("YYYY-MM-DD");
  return {
    search: search.trim(),
    widget,
    from: toInstant(first ?? "", timeZone) ?? "",
    to: toInstant(dayAfter, timeZone) ?? "",
  };
}

export function hasFilters(filters: ShownFilters): boolean {
  return Object.values(filters).some((value) => value !== "");
}
