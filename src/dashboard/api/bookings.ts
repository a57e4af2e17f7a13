import { infiniteQueryOptions, keepPreviousData, queryOptions } from "@tanstack/react-query";
import type { AppointmentTime, BookingSort } from "#contract/app/bookings.ts";
import type { BookingStatus } from "#contract/booking.ts";
import { ask, call } from "./call.ts";

const PAGE_SIZE = 50;
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

/** Page by page. The previous list stays on screen while another one loads. */
export const bookingsQuery = (organization: string, filters: BookingFilters) =>
  infiniteQueryOptions({
    queryKey: [...bookingsKey(organization), "list", filters],
    queryFn: ({ signal, pageParam }) =>
      call("listBookings", {
        organization,
        signal,
        query: { ...filters, limit: String(PAGE_SIZE), ...(pageParam === null ? {} : { cursor: pageParam }) },
      }),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.nextCursor,
    placeholderData: keepPreviousData,
    refetchInterval: REFRESH_MS,
  });

export const bookingCountQuery = (organization: string, { sort: _, ...filters }: BookingFilters) =>
  queryOptions({
    queryKey: [...bookingsKey(organization), "count", filters],
    queryFn: ({ signal }) => call("countBookings", { organization, signal, query: filters }),
    refetchInterval: COUNT_REFRESH_MS,
  });

export const bookingSourcesQuery = (organization: string, filters: BookingFilters) =>
  queryOptions({
    queryKey: [...bookingsKey(organization), "sources", filters],
    queryFn: ({ signal }) => call("getBookingSources", { organization, signal, query: filters }),
    placeholderData: keepPreviousData,
  });

export const bookingQuery = (organization: string, reference: string) =>
  ask("getBooking", [...bookingsKey(organization), "one", reference], { organization, params: { reference } });
