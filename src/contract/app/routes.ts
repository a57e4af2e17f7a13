import type { Feature } from "../plans.ts";
import type { MemberRole } from "./role.ts";

// Every route under /api/app, with what it takes to use it. server/app-api.ts lets nobody in who lacks the role (403
// `forbidden`) or whose plan lacks the feature (403 `plan_required`), and mounts no route of the organization's things
// that is not listed here. The dashboard asks the same table before it offers an action.
//
// A viewer reads everything but what is about customers or opens doors. A member works with widgets and bookings. Whatever
// lets data leave in bulk, erases by e-mail or hands out access needs an admin. What a plan no longer includes can still be
// read and taken away.

export type AppRoute = {
  readonly method: "GET" | "POST" | "PATCH" | "DELETE";
  /** Below /api/app. */
  readonly path: string;
  readonly role: MemberRole;
  readonly feature?: Feature;
};

export const APP_PREFIX = "/api/app";

// biome-ignore format: one route a line
export const APP_ROUTES = {
  listWidgets:        { method: "GET",    path: "/widgets", role: "viewer" },
  createWidget:       { method: "POST",   path: "/widgets", role: "member" },
  getWidget:          { method: "GET",    path: "/widgets/:widget", role: "viewer" },
  changeWidget:       { method: "PATCH",  path: "/widgets/:widget", role: "member" },

  listBookings:       { method: "GET",    path: "/bookings", role: "viewer" },
  getBooking:         { method: "GET",    path: "/bookings/:reference", role: "viewer" },
  deleteBooking:      { method: "DELETE", path: "/bookings/:reference", role: "member" },
  exportBookings:     { method: "GET",    path: "/bookings.csv", role: "admin", feature: "csvExport" },
  eraseBookings:      { method: "POST",   path: "/bookings/erase", role: "admin" },

  getAnalytics:       { method: "GET",    path: "/analytics", role: "viewer" },
  exportAnalytics:    { method: "GET",    path: "/analytics.csv", role: "viewer" },

  listEndpoints:      { method: "GET",    path: "/endpoints", role: "viewer" },
  addEndpoint:        { method: "POST",   path: "/endpoints", role: "admin", feature: "webhooks" },
  changeEndpoint:     { method: "PATCH",  path: "/endpoints/:endpoint", role: "admin", feature: "webhooks" },
  removeEndpoint:     { method: "DELETE", path: "/endpoints/:endpoint", role: "admin" },
  testEndpoint:       { method: "POST",   path: "/endpoints/:endpoint/test", role: "member", feature: "webhooks" },
  rotateSecret:       { method: "POST",   path: "/endpoints/:endpoint/rotate-secret", role: "admin", feature: "webhooks" },
  redeliverFailed:    { method: "POST",   path: "/endpoints/:endpoint/redeliver-failed", role: "member", feature: "webhooks" },

  listDeliveries:     { method: "GET",    path: "/deliveries", role: "viewer" },
  getDelivery:        { method: "GET",    path: "/deliveries/:delivery", role: "viewer" },
  redeliver:          { method: "POST",   path: "/deliveries/:delivery/redeliver", role: "member", feature: "webhooks" },

  listKeys:           { method: "GET",    path: "/keys", role: "admin" },
  createKey:          { method: "POST",   path: "/keys", role: "admin", feature: "readApi" },
  revokeKey:          { method: "DELETE", path: "/keys/:key", role: "admin" },

  listConnections:    { method: "GET",    path: "/connections", role: "member" },
  addConnection:      { method: "POST",   path: "/connections", role: "admin" },
  changeConnection:   { method: "PATCH",  path: "/connections/:connection", role: "admin" },
  removeConnection:   { method: "DELETE", path: "/connections/:connection", role: "admin" },
  testConnection:     { method: "POST",   path: "/connections/:connection/test", role: "admin" },
} as const satisfies Record<string, AppRoute>;

export type AppRouteName = keyof typeof APP_ROUTES;

/** Routes about people and the organization itself; their files in server/accounts guard themselves. */
export type AccountRoute = Pick<AppRoute, "method" | "path"> & {
  /** `person`: whoever is signed in, also without an organization. */
  readonly who: "anyone" | "person" | MemberRole;
};

// biome-ignore format: one route a line
export const ACCOUNT_ROUTES: readonly AccountRoute[] = [
  { method: "GET",    path: "/sign-in-options", who: "anyone" },
  { method: "POST",   path: "/setup", who: "anyone" },
  { method: "POST",   path: "/invitations/look-up", who: "anyone" },
  { method: "POST",   path: "/invitations/accept", who: "anyone" },
  { method: "GET",    path: "/me", who: "person" },
  { method: "PATCH",  path: "/me", who: "person" },
  { method: "GET",    path: "/me/sessions", who: "person" },
  { method: "DELETE", path: "/me/sessions", who: "person" },
  { method: "DELETE", path: "/me/sessions/:id", who: "person" },
  { method: "POST",   path: "/organizations", who: "person" },
  { method: "GET",    path: "/organization", who: "viewer" },
  { method: "PATCH",  path: "/organization", who: "admin" },
  { method: "GET",    path: "/members", who: "admin" },
  { method: "PATCH",  path: "/members/:userId", who: "admin" },
  { method: "DELETE", path: "/members/:userId", who: "viewer" },
  { method: "GET",    path: "/invitations", who: "admin" },
  { method: "POST",   path: "/invitations", who: "admin" },
  { method: "DELETE", path: "/invitations/:id", who: "admin" },
  { method: "GET",    path: "/audit", who: "admin" },
];
