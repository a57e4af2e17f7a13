import type { Feature } from "../plans.ts";
import type { MemberRole } from "./role.ts";

// Every route under /api/app, with the role and plan it needs. server/app-api.ts answers 403 `forbidden` to a lower role and
// 403 `plan_required` to a plan without the feature, and refuses to mount a route that is not listed here. The dashboard
// calls the routes by these names and reads the same tables before it offers an action.
//
// Viewers read everything except customers' data and whatever grants access. Members work with widgets and bookings. Bulk
// exports, erasing by email address and granting access need an admin. After a downgrade, things that the plan no longer
// includes can still be read and deleted.

export type AppRoute = {
  readonly method: "GET" | "POST" | "PATCH" | "DELETE";
  /** Below /api/app. */
  readonly path: string;
  readonly role: MemberRole;
  readonly feature?: Feature;
};

export const APP_PREFIX = "/api/app";
/** Names the organization that a request is for. */
export const ORGANIZATION_HEADER = "x-organization";

// biome-ignore format: one route a line
export const APP_ROUTES = {
  getOverview:        { method: "GET",    path: "/overview", role: "viewer" },
  dismissChecklist:   { method: "POST",   path: "/overview/dismiss-checklist", role: "viewer" },

  listWidgets:        { method: "GET",    path: "/widgets", role: "viewer" },
  createWidget:       { method: "POST",   path: "/widgets", role: "member" },
  getWidget:          { method: "GET",    path: "/widgets/:widget", role: "viewer" },
  changeWidget:       { method: "PATCH",  path: "/widgets/:widget", role: "member" },
  listWidgetServices: { method: "GET",    path: "/widgets/:widget/services", role: "viewer" },
  goLive:             { method: "POST",   path: "/widgets/:widget/go-live", role: "member" },
  goBackToTest:       { method: "POST",   path: "/widgets/:widget/test-mode", role: "member" },
  clearTestData:      { method: "POST",   path: "/widgets/:widget/clear-test-data", role: "member" },

  listBookings:       { method: "GET",    path: "/bookings", role: "viewer" },
  countBookings:      { method: "GET",    path: "/bookings/count", role: "viewer" },
  getBooking:         { method: "GET",    path: "/bookings/:reference", role: "viewer" },
  deleteBooking:      { method: "DELETE", path: "/bookings/:reference", role: "member" },
  exportBookings:     { method: "GET",    path: "/bookings.csv", role: "admin", feature: "csvExport" },
  exportAdConversions: { method: "GET",   path: "/ad-conversions.csv", role: "admin", feature: "csvExport" },
  eraseBookings:      { method: "POST",   path: "/bookings/erase", role: "admin" },

  getAnalytics:       { method: "GET",    path: "/analytics", role: "viewer" },
  exportAnalytics:    { method: "GET",    path: "/analytics.csv", role: "viewer" },
  getBreakdown:       { method: "GET",    path: "/analytics/breakdown", role: "viewer" },
  splitFunnel:        { method: "GET",    path: "/analytics/split", role: "viewer" },
  getBookingTimes:    { method: "GET",    path: "/analytics/times", role: "viewer" },
  getLiveView:        { method: "GET",    path: "/analytics/live", role: "viewer" },

  getReports:         { method: "GET",    path: "/reports", role: "viewer" },
  changeReports:      { method: "PATCH",  path: "/reports", role: "viewer" },

  listEndpoints:      { method: "GET",    path: "/endpoints", role: "viewer" },
  addEndpoint:        { method: "POST",   path: "/endpoints", role: "admin", feature: "webhooks" },
  // On any plan it turns an endpoint off; everything else needs the feature, which the route itself checks.
  changeEndpoint:     { method: "PATCH",  path: "/endpoints/:endpoint", role: "admin" },
  removeEndpoint:     { method: "DELETE", path: "/endpoints/:endpoint", role: "admin" },
  tryFilters:         { method: "POST",   path: "/endpoints/try-filters", role: "admin", feature: "webhooks" },
  testEndpoint:       { method: "POST",   path: "/endpoints/:endpoint/test", role: "member", feature: "webhooks" },
  rotateSecret:       { method: "POST",   path: "/endpoints/:endpoint/rotate-secret", role: "admin", feature: "webhooks" },
  retryEndpoint:      { method: "POST",   path: "/endpoints/:endpoint/retry", role: "member", feature: "webhooks" },
  getStatistics:      { method: "GET",    path: "/endpoints/:endpoint/statistics", role: "viewer" },

  listDeliveries:     { method: "GET",    path: "/deliveries", role: "viewer" },
  getDelivery:        { method: "GET",    path: "/deliveries/:delivery", role: "viewer" },
  redeliver:          { method: "POST",   path: "/deliveries/:delivery/redeliver", role: "member", feature: "webhooks" },
  retryDelivery:      { method: "POST",   path: "/deliveries/:delivery/retry", role: "member", feature: "webhooks" },

  listRedeliveries:   { method: "GET",    path: "/redeliveries", role: "viewer" },
  getRedelivery:      { method: "GET",    path: "/redeliveries/:redelivery", role: "viewer" },
  countRedelivery:    { method: "POST",   path: "/redeliveries/count", role: "member", feature: "webhooks" },
  startRedelivery:    { method: "POST",   path: "/redeliveries", role: "member", feature: "webhooks" },
  cancelRedelivery:   { method: "DELETE", path: "/redeliveries/:redelivery", role: "member" },

  listKeys:           { method: "GET",    path: "/keys", role: "admin" },
  createKey:          { method: "POST",   path: "/keys", role: "admin", feature: "readApi" },
  revokeKey:          { method: "DELETE", path: "/keys/:key", role: "admin" },

  listConnections:    { method: "GET",    path: "/connections", role: "member" },
  addConnection:      { method: "POST",   path: "/connections", role: "admin" },
  changeConnection:   { method: "PATCH",  path: "/connections/:connection", role: "admin" },
  removeConnection:   { method: "DELETE", path: "/connections/:connection", role: "admin" },
  checkConnection:    { method: "POST",   path: "/connections/:connection/check", role: "admin" },
} as const satisfies Record<string, AppRoute>;

export type AppRouteName = keyof typeof APP_ROUTES;

/** Routes about people and the organization itself, available on every plan. */
export type AccountRoute = Omit<AppRoute, "role" | "feature"> & {
  /** `anyone`: no sign-in needed. `person`: any signed-in person, even without an organization. */
  readonly role: "anyone" | "person" | MemberRole;
  readonly feature?: never;
};

// biome-ignore format: one route a line
export const ACCOUNT_ROUTES = {
  listSignInOptions:  { method: "GET",    path: "/sign-in-options", role: "anyone" },
  setUp:              { method: "POST",   path: "/setup", role: "anyone" },
  requestSignUpLink:  { method: "POST",   path: "/sign-up/link", role: "anyone" },
  signUp:             { method: "POST",   path: "/sign-up", role: "anyone" },
  lookUpInvitation:   { method: "POST",   path: "/invitations/look-up", role: "anyone" },
  acceptInvitation:   { method: "POST",   path: "/invitations/accept", role: "anyone" },

  getMe:              { method: "GET",    path: "/me", role: "person" },
  changeMe:           { method: "PATCH",  path: "/me", role: "person" },
  listSignIns:        { method: "GET",    path: "/me/sessions", role: "person" },
  endOtherSignIns:    { method: "DELETE", path: "/me/sessions", role: "person" },
  endSignIn:          { method: "DELETE", path: "/me/sessions/:id", role: "person" },
  disconnectOidc:     { method: "DELETE", path: "/me/oidc", role: "person" },
  createOrganization: { method: "POST",   path: "/organizations", role: "person" },

  getOrganization:    { method: "GET",    path: "/organization", role: "viewer" },
  changeOrganization: { method: "PATCH",  path: "/organization", role: "admin" },
  saveLogo:           { method: "POST",   path: "/organization/logo", role: "admin" },
  removeLogo:         { method: "DELETE", path: "/organization/logo", role: "admin" },
  deleteOrganization: { method: "POST",   path: "/organization/delete", role: "owner" },
  listMembers:        { method: "GET",    path: "/members", role: "admin" },
  changeMember:       { method: "PATCH",  path: "/members/:userId", role: "admin" },
  // Everyone may leave; the route itself checks who may remove others.
  removeMember:       { method: "DELETE", path: "/members/:userId", role: "viewer" },
  listInvitations:    { method: "GET",    path: "/invitations", role: "admin" },
  invite:             { method: "POST",   path: "/invitations", role: "admin" },
  revokeInvitation:   { method: "DELETE", path: "/invitations/:id", role: "admin" },
  listAuditEntries:   { method: "GET",    path: "/audit", role: "admin" },
  listAuditPeople:    { method: "GET",    path: "/audit/people", role: "admin" },
  exportAudit:        { method: "GET",    path: "/audit.csv", role: "admin" },
} as const satisfies Record<string, AccountRoute>;

export const AUTH_PREFIX = "/api/auth";

// biome-ignore format: one route a line
/** The routes of better-auth that are open (server/accounts/auth/auth-doors.ts), below AUTH_PREFIX. */
export const AUTH_ROUTES = {
  signIn:               { method: "POST", path: "/sign-in/email", role: "anyone" },
  signInWithOidc:       { method: "POST", path: "/sign-in/social", role: "anyone" },
  signInWithCode:       { method: "POST", path: "/two-factor/verify-totp", role: "anyone" },
  signInWithRecoveryCode: { method: "POST", path: "/two-factor/verify-backup-code", role: "anyone" },
  signOut:              { method: "POST", path: "/sign-out", role: "anyone" },
  requestPasswordReset: { method: "POST", path: "/request-password-reset", role: "anyone" },
  resetPassword:        { method: "POST", path: "/reset-password", role: "anyone" },

  connectOidc:          { method: "POST", path: "/link-social", role: "person" },
  changePassword:       { method: "POST", path: "/change-password", role: "person" },
  enableTwoFactor:      { method: "POST", path: "/two-factor/enable", role: "person" },
  /** The same route as signInWithCode: the first code turns on two-factor authentication. */
  confirmTwoFactor:     { method: "POST", path: "/two-factor/verify-totp", role: "person" },
  disableTwoFactor:     { method: "POST", path: "/two-factor/disable", role: "person" },
  createRecoveryCodes:  { method: "POST", path: "/two-factor/generate-backup-codes", role: "person" },
} as const satisfies Record<string, AccountRoute>;
