import { KEY_SCOPES, type KeyScope } from "./scopes.ts";

/** Below it is everything that API keys are for. */
export const API_PREFIX = "/api/v1";

/** Changes when a program that follows the guide could break. */
export const API_VERSION = "1";

type ReadRoute = {
  readonly path: string;
  /** The key needs one of these. */
  readonly scopes: readonly KeyScope[];
};

const BOOKING_SCOPES = ["bookings", "bookings.anonymous"] as const;

// Every route under /api/v1 that needs a key. The server refuses to mount one that is not listed here.
// biome-ignore format: one route a line
export const READ_ROUTES = {
  listWidgets:   { path: "/widgets", scopes: KEY_SCOPES },
  listBookings:  { path: "/bookings", scopes: BOOKING_SCOPES },
  listChanges: { path: "/changes", scopes: BOOKING_SCOPES },
  listDeletions: { path: "/deletions", scopes: BOOKING_SCOPES },
  listEvents:    { path: "/events", scopes: ["bookings"] },
  listEventTypes: { path: "/event-types", scopes: KEY_SCOPES },
  getAnalytics:  { path: "/analytics", scopes: ["analytics"] },
  getBreakdown:  { path: "/analytics/breakdown", scopes: ["analytics"] },
} as const satisfies Record<string, ReadRoute>;
