import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { MINUTE_MS, SECOND_MS } from "#contract/durations.ts";
import { ask } from "./call.ts";

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
    ...ask("getAnalytics", [organization, "analytics", query], { organization, query }),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) => (state.data?.dataSince === null ? FIRST_REFRESH_MS : REFRESH_MS),
  });

export const breakdownQuery = (organization: string, query: Parameters) => ({
  ...ask("getBreakdown", [organization, "analytics", "breakdown", query], { organization, query }),
  placeholderData: keepPreviousData,
});

export const splitQuery = (organization: string, query: Parameters) => ({
  ...ask("splitFunnel", [organization, "analytics", "split", query], { organization, query }),
  placeholderData: keepPreviousData,
  refetchInterval: REFRESH_MS,
});

export const bookingTimesQuery = (organization: string, query: Parameters) => ({
  ...ask("getBookingTimes", [organization, "analytics", "times", query], { organization, query }),
  placeholderData: keepPreviousData,
  refetchInterval: REFRESH_MS,
});

export const reportsQuery = (organization: string) => ask("getReports", [organization, "reports"], { organization });

export const liveQuery = (organization: string) => ({
  ...ask("getLiveView", [organization, "analytics", "live"], { organization }),
  refetchInterval: LIVE_REFRESH_MS,
});

/** Not below "analytics": segments don't change with the numbers. */
export const segmentsQuery = (organization: string) =>
  ask("listSegments", [organization, "segments"], { organization });

export const reportLinksQuery = (organization: string) =>
  ask("listReportLinks", [organization, "report-links"], { organization });

export const sharedReportQuery = (token: string) => ({
  ...ask("readSharedReport", ["shared-report", token], { body: { token } }),
  refetchOnWindowFocus: false,
});
