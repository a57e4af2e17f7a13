import type { BookingSort } from "#contract/app/bookings.ts";
import type { BookingFilters } from "../api/bookings.ts";
import { toInstants } from "../days.ts";

/** `from` and `to` are the first and last day of booking, `startFrom` and `startTo` those of the appointment. */
export const FILTER_DEFAULTS = {
  search: "",
  widget: "",
  from: "",
  to: "",
  startFrom: "",
  startTo: "",
  status: "",
  when: "",
  sort: "",
};
export type ShownFilters = typeof FILTER_DEFAULTS;

/** Clears what narrows the list, and keeps how it is sorted. */
export const { sort: _, ...NO_FILTERS } = FILTER_DEFAULTS;

/** Days are in the organization's time zone. */
export function toBookingFilters(shown: ShownFilters, timeZone: string): BookingFilters {
  const booked = toInstants(shown, timeZone);
  const start = toInstants({ from: shown.startFrom, to: shown.startTo }, timeZone);
  return {
    search: shown.search.trim(),
    widget: shown.widget,
    ...booked,
    startFrom: start.from,
    startTo: start.to,
    status: isStatus(shown.status) ? shown.status : "",
    when: isWhen(shown.when) ? shown.when : "",
    sort: toSort(shown),
  };
}

/** Whether something narrows the list besides `when`, which has its own control. */
export function hasFilters({ sort: _sort, when: _when, status, ...filters }: ShownFilters): boolean {
  return (status !== "" && isStatus(status)) || Object.values(filters).some((value) => value !== "");
}

/** Imported bookings may have other statuses. */
export const STATUS_LABELS = { "": "All statuses", confirmed: "Confirmed", cancelled: "Cancelled" } as const;

export function isStatus(text: string): text is keyof typeof STATUS_LABELS {
  return Object.hasOwn(STATUS_LABELS, text);
}

export const WHEN_LABELS = { "": "All", upcoming: "Upcoming", past: "Past" } as const;

/** "Upcoming bookings", "Matching bookings". */
export function describeList(filters: ShownFilters): string {
  const kind = isWhen(filters.when) ? WHEN_LABELS[filters.when] : WHEN_LABELS[""];
  if (!hasFilters(filters)) return `${kind} bookings`;
  return kind === "All" ? "Matching bookings" : `Matching ${kind.toLowerCase()} bookings`;
}

export function isWhen(text: string): text is keyof typeof WHEN_LABELS {
  return Object.hasOwn(WHEN_LABELS, text);
}

export const SORT_LABELS: Record<BookingSort, string> = {
  newest: "Newest booking first",
  oldest: "Oldest booking first",
  soonest: "Soonest appointment first",
  latest: "Latest appointment first",
};

/** The chosen order, or the default one: upcoming appointments start with the next. */
export function toSort({ sort, when, startFrom, startTo }: ShownFilters): BookingSort {
  if (Object.hasOwn(SORT_LABELS, sort)) return sort as BookingSort;
  if (when === "past") return "latest";
  return when === "upcoming" || startFrom !== "" || startTo !== "" ? "soonest" : "newest";
}
