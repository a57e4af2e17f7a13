import { KEY_SCOPES, type KeyScope } from "./scopes.ts";

/** Below it is everything that API keys are for. */
export const API_PREFIX = "/api/v1";

/** Changes when a program that follows the guide could break. */
export const API_VERSION = "1";

/** Sections of the API reference, in order: what most people look for comes first. */
export const API_TAGS = [
  "bookings",
  "analytics",
  "widgets",
  "events",
  "endpoints",
  "deliveries",
  "redeliveries",
  "connections",
  "keys",
  "organization",
] as const;
type ApiTag = (typeof API_TAGS)[number];

type ReadRoute = {
  readonly path: string;
  /** The key needs one of these. */
  readonly scopes: readonly KeyScope[];
  /** Its section in the API reference. */
  readonly tag: ApiTag;
};

const BOOKING_SCOPES = ["bookings", "bookings.anonymous"] as const;

// Every route under /api/v1 that needs a key. The server refuses to mount one that is not listed here.
// biome-ignore format: one route a line
export const READ_ROUTES = {
  listWidgets:   { path: "/widgets", scopes: KEY_SCOPES, tag: "widgets" },
  listBookings:  { path: "/bookings", scopes: BOOKING_SCOPES, tag: "bookings" },
  getBooking:    { path: "/bookings/:reference", scopes: BOOKING_SCOPES, tag: "bookings" },
  listChanges:   { path: "/changes", scopes: BOOKING_SCOPES, tag: "bookings" },
  listDeletions: { path: "/deletions", scopes: BOOKING_SCOPES, tag: "bookings" },
  listEvents:    { path: "/events", scopes: ["bookings"], tag: "events" },
  listEventTypes: { path: "/event-types", scopes: KEY_SCOPES, tag: "events" },
  getAnalytics:  { path: "/analytics", scopes: ["analytics"], tag: "analytics" },
  getBreakdown:  { path: "/analytics/breakdown", scopes: ["analytics"], tag: "analytics" },
} as const satisfies Record<string, ReadRoute>;
