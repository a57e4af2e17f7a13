import dayjs from "dayjs";
import type { BookingFilters } from "../api/bookings.ts";
import { toDay } from "../day-range.ts";
import { toInstant } from "../zoned-time.ts";

/** What stands in the address: what was typed, the widget, and the first and last day of booking, each where it narrows. */
export const FILTER_DEFAULTS = { search: "", widget: "", from: "", to: "" };
export type ShownFilters = typeof FILTER_DEFAULTS;

/** Days are those of the organization's time zone; the server takes instants, and the last one excluded. */
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
