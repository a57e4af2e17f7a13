import { keepPreviousData } from "@tanstack/react-query";
import type { AppointmentTime, BookingSort } from "#contract/app/bookings.ts";
import type { BookingStatus } from "#contract/bookings/booking.ts";
import { ask, askPages } from "./call.ts";

/** New bookings appear without a reload. */
const REFRESH_MS = 15_000;

/** Counting takes longer than reading a page. */
const COUNT_REFRESH_MS = 60_000;

/** Parameters of /api/app/bookings. Empty strings are left out of the request. */
export type BookingFilters = {
  search?: string;
  widget?: string;
  from?: string;
  to?: string;
  startFrom?: string;
  startTo?: string;
  status?: BookingStatus | "";
  when?: AppointmentTime | "";
  sort?: BookingSort;
};

export const bookingsKey = (organization: string) => [organization, "bookings"] as const;

export const bookingsQuery = (organization: string, filters: BookingFilters) => ({
  ...askPages("listBookings", [...bookingsKey(organization), "list", filters], { organization }, () => filters),
  refetchInterval: REFRESH_MS,
});

export const bookingCountQuery = (organization: string, { sort: _, ...query }: BookingFilters) => ({
  ...ask("countBookings", [...bookingsKey(organization), "count", query], { organization, query }),
  refetchInterval: COUNT_REFRESH_MS,
});

export const bookingSourcesQuery = (organization: string, query: BookingFilters) => ({
  ...ask("getBookingSources", [...bookingsKey(organization), "sources", query], { organization, query }),
  placeholderData: keepPreviousData,
});

export const bookingQuery = (organization: string, reference: string) =>
  ask("getBooking", [...bookingsKey(organization), "one", reference], { organization, params: { reference } });
