import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { MINUTE_MS, SECOND_MS } from "#contract/durations.ts";
import { ask, call } from "./call.ts";

/** Query parameters; empty ones are left out. */
type Parameters = Readonly<Record<string, string | readonly string[]>>;

// Queries refresh only in visible tabs: TanStack Query stops its intervals in hidden ones.

const REFRESH_MS = MINUTE_MS;
/** While waiting for the first view. */
const FIRST_REFRESH_MS = 5 * SECOND_MS;
const LIVE_REFRESH_MS = 10 * SECOND_MS;

/** The previous report stays on screen while another one loads. */
export const analyticsQuery = (organization: string, query: Parameters) =>
  queryOptions({
    queryKey: [organization, "analytics", query],
    queryFn: ({ signal }) => call("getAnalytics", { organization, signal, query }),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) => (state.data?.dataSince === null ? FIRST_REFRESH_MS : REFRESH_MS),
  });

export const breakdownQuery = (organization: string, query: Parameters) =>
  queryOptions({
    queryKey: [organization, "analytics", "breakdown", query],
    queryFn: ({ signal }) => call("getBreakdown", { organization, signal, query }),
    placeholderData: keepPreviousData,
  });

export const splitQuery = (organization: string, query: Parameters) =>
  queryOptions({
    queryKey: [organization, "analytics", "split", query],
    queryFn: ({ signal }) => call("splitFunnel", { organization, signal, query }),
    placeholderData: keepPreviousData,
    refetchInterval: REFRESH_MS,
  });

export const bookingTimesQuery = (organization: string, query: Parameters) =>
  queryOptions({
    queryKey: [organization, "analytics", "times", query],
    queryFn: ({ signal }) => call("getBookingTimes", { organization, signal, query }),
    placeholderData: keepPreviousData,
    refetchInterval: REFRESH_MS,
  });

export const reportsQuery = (organization: string) => ask("getReports", [organization, "reports"], { organization });

export const liveQuery = (organization: string) =>
  queryOptions({
    queryKey: [organization, "analytics", "live"],
    queryFn: ({ signal }) => call("getLiveView", { organization, signal }),
    refetchInterval: LIVE_REFRESH_MS,
  });

/** Not below "analytics": segments don't change with the numbers. */
export const segmentsQuery = (organization: string) =>
  ask("listSegments", [organization, "segments"], { organization });

export const reportLinksQuery = (organization: string) =>
  ask("listReportLinks", [organization, "report-links"], { organization });

export const sharedReportQuery = (token: string) =>
  queryOptions({
    queryKey: ["shared-report", token],
    queryFn: ({ signal }) => call("readSharedReport", { body: { token }, signal }),
    refetchOnWindowFocus: false,
  });
