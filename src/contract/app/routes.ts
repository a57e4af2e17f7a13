import type { Feature } from "../plans.ts";
import type { MemberRole } from "./role.ts";

// Every route under /api/app, with what it takes to use it. server/app-api.ts lets nobody in who lacks the role (403
// `forbidden`) or whose plan lacks the feature (403 `plan_required`), and mounts no route that is not listed here. The
// dashboard asks the same tables before it offers an action.
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

/** Routes about people and the organization itself, on every plan. */
export type AccountRoute = Omit<AppRoute, "role" | "feature"> & {
  /** `person`: whoever is signed in, also without an organization. */
  readonly role: "anyone" | "person" | MemberRole;
  readonly feature?: never;
};

// biome-ignore format: one route a line
export const ACCOUNT_ROUTES = {
  listSignInOptions:  { method: "GET",    path: "/sign-in-options", role: "anyone" },
  setUp:              { method: "POST",   path: "/setup", role: "anyone" },
  lookUpInvitation:   { method: "POST",   path: "/invitations/look-up", role: "anyone" },
  acceptInvitation:   { method: "POST",   path: "/invitations/accept", role: "anyone" },

  getMe:              { method: "GET",    path: "/me", role: "person" },
  changeMe:           { method: "PATCH",  path: "/me", role: "person" },
  listSignIns:        { method: "GET",    path: "/me/sessions", role: "person" },
  endOtherSignIns:    { method: "DELETE", path: "/me/sessions", role: "person" },
  endSignIn:          { method: "DELETE", path: "/me/sessions/:id", role: "person" },
  createOrganization: { method: "POST",   path: "/organizations", role: "person" },

  getOrganization:    { method: "GET",    path: "/organization", role: "viewer" },
  changeOrganization: { method: "PATCH",  path: "/organization", role: "admin" },
  listMembers:        { method: "GET",    path: "/members", role: "admin" },
  changeMember:       { method: "PATCH",  path: "/members/:userId", role: "admin" },
  // Whoever wants to leave may; the route asks more of who removes others.
  removeMember:       { method: "DELETE", path: "/members/:userId", role: "viewer" },
  listInvitations:    { method: "GET",    path: "/invitations", role: "admin" },
  invite:             { method: "POST",   path: "/invitations", role: "admin" },
  withdrawInvitation: { method: "DELETE", path: "/invitations/:id", role: "admin" },
  listAuditEntries:   { method: "GET",    path: "/audit", role: "admin" },
} as const satisfies Record<string, AccountRoute>;
