import type { Static, TSchema } from "typebox";
import { LOGO_BODY_BYTES_MAX } from "../limits.ts";
import type { Feature } from "../plans.ts";
import type { KeyScope } from "../scopes.ts";
import {
  CreatedInvitation,
  CreatedOrganization,
  InvitationAcceptance,
  InvitationList,
  InvitationPreview,
  InvitationToken,
  JoinedOrganization,
  Me,
  MeChange,
  MemberChange,
  MemberList,
  NewInvitation,
  NewLogo,
  NewOrganization,
  OrganizationChange,
  OrganizationDeletion,
  OrganizationShape,
  SetUpRequest,
  SignInOptions,
  SignIns,
  SignUpLinkRequest,
  SignUpRequest,
} from "./account.ts";
import {
  AppAnalytics,
  AppBreakdown,
  BookingTimes,
  FunnelSplit,
  LiveView,
  NewReportLink,
  NewSegment,
  ReportLink,
  ReportLinkList,
  Segment,
  SegmentChange,
  SegmentList,
  SharedReport,
  SharedReportRequest,
} from "./analytics.ts";
import { AuditPage, AuditPeople } from "./audit.ts";
import {
  BookingCount,
  BookingDetail,
  BookingSources,
  BookingSummaryPage,
  EraseRequest,
  EraseResponse,
} from "./bookings.ts";
import {
  AppConnectionList,
  ConnectionChange,
  ConnectionCheckRequest,
  ConnectionCheckResponse,
  NewConnection,
  SavedConnection,
} from "./connections.ts";
import {
  AppDeliveryDetail,
  AppDeliveryPage,
  AppRedelivery,
  AppRedeliveryList,
  DeliveriesQuery,
  NewRedelivery,
  QueuedDelivery,
  RedeliveryCount,
} from "./deliveries.ts";
import {
  AddedEndpoint,
  AppEndpoint,
  AppEndpointList,
  EndpointChange,
  EndpointStatistics,
  FilterTrial,
  FilterTrialRequest,
  NewEndpoint,
  RetriedDeliveries,
  RotatedSecret,
  RotateSecretRequest,
  StatisticsQuery,
} from "./endpoints.ts";
import { ListQuery } from "./forms.ts";
import { AppKeyList, CreatedKey, NewKey } from "./keys.ts";
import { Overview } from "./overview.ts";
import { ReportChange, ReportSubscriptions } from "./reports.ts";
import type { MemberRole } from "./role.ts";
import {
  AppWidget,
  AppWidgetList,
  ClearTestRequest,
  GoLiveRequest,
  NewWidget,
  TestDataShape,
  WidgetChange,
  WidgetServices,
} from "./widgets.ts";

// Every route under /api/app: its role, plan, body and response. Those with scopes are also under /api/v1, for keys. The server refuses
// to mount a route that is not listed here. It answers 403 `forbidden` to a lower role, 403 `plan_required` to a plan without the
// feature and 403 `scope_required` to a key without the scopes. The dashboard calls the routes by these names and reads the same
// tables before it offers an action.
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
  readonly body?: TSchema;
  /** What is sent on success; nothing more than the schema names. None: 204, or a file. */
  readonly response?: TSchema;
  readonly query?: TSchema;
  readonly summary?: string;
  /** On success: 200 unless given, and 204 without a response. */
  readonly status?: 201 | 202;
  /** The scopes that a key needs to call it under /api/v1; without scopes, no key can. */
  readonly scopes?: readonly KeyScope[];
  /** A repeated request with the same Idempotency-Key does nothing more. For what would do harm, or be answered otherwise. */
  readonly hasIdempotencyKey?: true;
  /** Unlike other bodies'. */
  readonly bodyBytesMax?: number;
};

export const APP_PREFIX = "/api/app";
/** Names the organization that a request is for. */
export const ORGANIZATION_HEADER = "x-organization";

/** A key with `manage` may do what an admin may. */
const MANAGE = ["manage"] as const;
/** Decides where customers' data is sent, so `manage` alone is not enough. */
const MANAGE_DATA = ["manage", "bookings"] as const;

// biome-ignore format: one route a line
export const APP_ROUTES = {
  getOverview:        { method: "GET",    path: "/overview", role: "viewer", response: Overview },
  dismissChecklist:   { method: "POST",   path: "/overview/dismiss-checklist", role: "viewer" },

  listWidgets:        { method: "GET",    path: "/widgets", role: "viewer", response: AppWidgetList },
  createWidget:       { method: "POST",   path: "/widgets", role: "member", body: NewWidget, response: AppWidget, status: 201, hasIdempotencyKey: true, scopes: MANAGE, summary: "Create a widget" },
  getWidget:          { method: "GET",    path: "/widgets/:widget", role: "viewer", response: AppWidget, scopes: MANAGE, summary: "Get a widget" },
  changeWidget:       { method: "PATCH",  path: "/widgets/:widget", role: "member", body: WidgetChange, response: AppWidget, scopes: MANAGE, summary: "Change a widget" },
  listWidgetServices: { method: "GET",    path: "/widgets/:widget/services", role: "viewer", response: WidgetServices, scopes: MANAGE, summary: "List the services of a widget's scheduling system" },
  goLive:             { method: "POST",   path: "/widgets/:widget/go-live", role: "member", body: GoLiveRequest, response: AppWidget, scopes: MANAGE, summary: "Go live, or change the connection" },
  goBackToTest:       { method: "POST",   path: "/widgets/:widget/test-mode", role: "member", response: AppWidget, scopes: MANAGE, summary: "Go back to test mode" },
  clearTestData:      { method: "POST",   path: "/widgets/:widget/clear-test-data", role: "member", body: ClearTestRequest, response: TestDataShape, scopes: MANAGE, summary: "Delete what a widget collected in test mode" },

  listBookings:       { method: "GET",    path: "/bookings", role: "viewer", response: BookingSummaryPage },
  countBookings:      { method: "GET",    path: "/bookings/count", role: "viewer", response: BookingCount },
  getBookingSources:  { method: "GET",    path: "/bookings/sources", role: "viewer", response: BookingSources },
  getBooking:         { method: "GET",    path: "/bookings/:reference", role: "viewer", response: BookingDetail },
  deleteBooking:      { method: "DELETE", path: "/bookings/:reference", role: "member" },
  exportBookings:     { method: "GET",    path: "/bookings.csv", role: "admin", feature: "csvExport" },
  exportAdConversions: { method: "GET",   path: "/ad-conversions.csv", role: "admin", feature: "csvExport" },
  eraseBookings:      { method: "POST",   path: "/bookings/erase", role: "admin", body: EraseRequest, response: EraseResponse },

  getAnalytics:       { method: "GET",    path: "/analytics", role: "viewer", response: AppAnalytics },
  exportAnalytics:    { method: "GET",    path: "/analytics.csv", role: "viewer" },
  getBreakdown:       { method: "GET",    path: "/analytics/breakdown", role: "viewer", response: AppBreakdown },
  splitFunnel:        { method: "GET",    path: "/analytics/split", role: "viewer", response: FunnelSplit },
  getBookingTimes:    { method: "GET",    path: "/analytics/times", role: "viewer", response: BookingTimes },
  getLiveView:        { method: "GET",    path: "/analytics/live", role: "viewer", response: LiveView },

  listSegments:       { method: "GET",    path: "/analytics/segments", role: "viewer", response: SegmentList },
  saveSegment:        { method: "POST",   path: "/analytics/segments", role: "member", body: NewSegment, response: Segment, status: 201, hasIdempotencyKey: true },
  changeSegment:      { method: "PATCH",  path: "/analytics/segments/:segment", role: "member", body: SegmentChange, response: Segment },
  deleteSegment:      { method: "DELETE", path: "/analytics/segments/:segment", role: "member" },
  listReportLinks:    { method: "GET",    path: "/analytics/links", role: "member", response: ReportLinkList },
  createReportLink:   { method: "POST",   path: "/analytics/links", role: "member", body: NewReportLink, response: ReportLink, status: 201, hasIdempotencyKey: true },
  revokeReportLink:   { method: "DELETE", path: "/analytics/links/:link", role: "member" },

  getReports:         { method: "GET",    path: "/reports", role: "viewer", response: ReportSubscriptions },
  changeReports:      { method: "PATCH",  path: "/reports", role: "viewer", body: ReportChange, response: ReportSubscriptions },

  listEndpoints:      { method: "GET",    path: "/endpoints", role: "viewer", response: AppEndpointList, query: ListQuery, scopes: MANAGE, summary: "List endpoints" },
  addEndpoint:        { method: "POST",   path: "/endpoints", role: "admin", feature: "webhooks", body: NewEndpoint, response: AddedEndpoint, status: 201, hasIdempotencyKey: true, scopes: MANAGE_DATA, summary: "Add an endpoint" },
  // On any plan it turns an endpoint off; everything else needs the feature, which the route itself checks.
  changeEndpoint:     { method: "PATCH",  path: "/endpoints/:endpoint", role: "admin", body: EndpointChange, response: AppEndpoint, scopes: MANAGE, summary: "Change an endpoint, or turn it on or off" },
  deleteEndpoint:     { method: "DELETE", path: "/endpoints/:endpoint", role: "admin", scopes: MANAGE, summary: "Delete an endpoint" },
  tryFilters:         { method: "POST",   path: "/endpoints/try-filters", role: "admin", feature: "webhooks", body: FilterTrialRequest, response: FilterTrial, scopes: MANAGE, summary: "Try filters on the newest events" },
  testEndpoint:       { method: "POST",   path: "/endpoints/:endpoint/test", role: "member", feature: "webhooks", response: QueuedDelivery, status: 202, hasIdempotencyKey: true, scopes: MANAGE, summary: "Send a test event" },
  rotateSecret:       { method: "POST",   path: "/endpoints/:endpoint/rotate-secret", role: "admin", feature: "webhooks", body: RotateSecretRequest, response: RotatedSecret, hasIdempotencyKey: true, scopes: MANAGE, summary: "Rotate a signing secret" },
  retryEndpoint:      { method: "POST",   path: "/endpoints/:endpoint/retry", role: "member", feature: "webhooks", response: RetriedDeliveries, hasIdempotencyKey: true, scopes: MANAGE, summary: "Retry all queued deliveries of an endpoint" },
  getStatistics:      { method: "GET",    path: "/endpoints/:endpoint/statistics", role: "viewer", response: EndpointStatistics, query: StatisticsQuery, scopes: MANAGE, summary: "Get an endpoint's statistics" },

  listDeliveries:     { method: "GET",    path: "/deliveries", role: "viewer", response: AppDeliveryPage, query: DeliveriesQuery, scopes: MANAGE, summary: "List deliveries" },
  getDelivery:        { method: "GET",    path: "/deliveries/:delivery", role: "viewer", response: AppDeliveryDetail, scopes: MANAGE, summary: "Get a delivery with its attempts" },
  redeliver:          { method: "POST",   path: "/deliveries/:delivery/redeliver", role: "member", feature: "webhooks", response: QueuedDelivery, status: 202, hasIdempotencyKey: true, scopes: MANAGE, summary: "Redeliver" },
  retryDelivery:      { method: "POST",   path: "/deliveries/:delivery/retry", role: "member", feature: "webhooks", response: QueuedDelivery, status: 202, hasIdempotencyKey: true, scopes: MANAGE, summary: "Retry a delivery now" },

  listRedeliveries:   { method: "GET",    path: "/redeliveries", role: "viewer", response: AppRedeliveryList, query: ListQuery, scopes: MANAGE, summary: "List bulk redeliveries" },
  getRedelivery:      { method: "GET",    path: "/redeliveries/:redelivery", role: "viewer", response: AppRedelivery, scopes: MANAGE, summary: "Get a bulk redelivery" },
  countRedelivery:    { method: "POST",   path: "/redeliveries/count", role: "member", feature: "webhooks", body: NewRedelivery, response: RedeliveryCount, scopes: MANAGE, summary: "Count what a bulk redelivery would send" },
  startRedelivery:    { method: "POST",   path: "/redeliveries", role: "member", feature: "webhooks", body: NewRedelivery, response: AppRedelivery, status: 202, hasIdempotencyKey: true, scopes: MANAGE, summary: "Start a bulk redelivery" },
  cancelRedelivery:   { method: "DELETE", path: "/redeliveries/:redelivery", role: "member", scopes: MANAGE, summary: "Cancel a bulk redelivery" },

  listKeys:           { method: "GET",    path: "/keys", role: "admin", response: AppKeyList, query: ListQuery, scopes: MANAGE, summary: "List API keys" },
  createKey:          { method: "POST",   path: "/keys", role: "admin", feature: "readApi", body: NewKey, response: CreatedKey, status: 201, hasIdempotencyKey: true, scopes: MANAGE, summary: "Create an API key" },
  revokeKey:          { method: "DELETE", path: "/keys/:key", role: "admin", scopes: MANAGE, summary: "Revoke an API key" },

  listConnections:    { method: "GET",    path: "/connections", role: "member", response: AppConnectionList, query: ListQuery, scopes: MANAGE, summary: "List connections" },
  addConnection:      { method: "POST",   path: "/connections", role: "admin", body: NewConnection, response: SavedConnection, status: 201, hasIdempotencyKey: true, scopes: MANAGE_DATA, summary: "Add a connection" },
  changeConnection:   { method: "PATCH",  path: "/connections/:connection", role: "admin", body: ConnectionChange, response: SavedConnection, scopes: MANAGE_DATA, summary: "Change a connection" },
  removeConnection:   { method: "DELETE", path: "/connections/:connection", role: "admin", scopes: MANAGE, summary: "Delete a connection" },
  checkConnection:    { method: "POST",   path: "/connections/:connection/check", role: "admin", body: ConnectionCheckRequest, response: ConnectionCheckResponse, scopes: MANAGE, summary: "Test a connection" },
} as const satisfies Record<string, AppRoute>;

export type AppRouteName = keyof typeof APP_ROUTES;

export type ResponseOf<Route> = Route extends { response: infer Schema extends TSchema } ? Static<Schema> : null;
export type RequestBodyOf<Route> = Route extends { body: infer Body extends TSchema } ? Static<Body> : never;

/** Routes about people and the organization itself, available on every plan. */
export type AccountRoute = Omit<AppRoute, "role" | "feature"> & {
  /** `anyone`: no sign-in needed. `person`: any signed-in person, even without an organization. */
  readonly role: "anyone" | "person" | MemberRole;
  readonly feature?: never;
};

// biome-ignore format: one route a line
export const ACCOUNT_ROUTES = {
  listSignInOptions:  { method: "GET",    path: "/sign-in-options", role: "anyone", response: SignInOptions },
  setUp:              { method: "POST",   path: "/setup", role: "anyone", body: SetUpRequest, response: CreatedOrganization, status: 201 },
  requestSignUpLink:  { method: "POST",   path: "/sign-up/link", role: "anyone", body: SignUpLinkRequest },
  signUp:             { method: "POST",   path: "/sign-up", role: "anyone", body: SignUpRequest },
  lookUpInvitation:   { method: "POST",   path: "/invitations/look-up", role: "anyone", body: InvitationToken, response: InvitationPreview },
  acceptInvitation:   { method: "POST",   path: "/invitations/accept", role: "anyone", body: InvitationAcceptance, response: JoinedOrganization },
  readSharedReport:   { method: "POST",   path: "/shared-report", role: "anyone", body: SharedReportRequest, response: SharedReport },

  getMe:              { method: "GET",    path: "/me", role: "person", response: Me },
  changeMe:           { method: "PATCH",  path: "/me", role: "person", body: MeChange },
  listSignIns:        { method: "GET",    path: "/me/sessions", role: "person", response: SignIns },
  endOtherSignIns:    { method: "DELETE", path: "/me/sessions", role: "person" },
  endSignIn:          { method: "DELETE", path: "/me/sessions/:id", role: "person" },
  disconnectOidc:     { method: "DELETE", path: "/me/oidc", role: "person" },
  createOrganization: { method: "POST",   path: "/organizations", role: "person", body: NewOrganization, response: CreatedOrganization, status: 201, hasIdempotencyKey: true },

  getOrganization:    { method: "GET",    path: "/organization", role: "viewer", response: OrganizationShape, scopes: MANAGE, summary: "Get the organization" },
  changeOrganization: { method: "PATCH",  path: "/organization", role: "admin", body: OrganizationChange, response: OrganizationShape, scopes: MANAGE, summary: "Change the organization" },
  saveLogo:           { method: "POST",   path: "/organization/logo", role: "admin", body: NewLogo, bodyBytesMax: LOGO_BODY_BYTES_MAX },
  removeLogo:         { method: "DELETE", path: "/organization/logo", role: "admin" },
  deleteOrganization: { method: "POST",   path: "/organization/delete", role: "owner", body: OrganizationDeletion },
  listMembers:        { method: "GET",    path: "/members", role: "admin", response: MemberList },
  changeMember:       { method: "PATCH",  path: "/members/:userId", role: "admin", body: MemberChange },
  // Everyone may leave; the route itself checks who may remove others.
  removeMember:       { method: "DELETE", path: "/members/:userId", role: "viewer" },
  listInvitations:    { method: "GET",    path: "/invitations", role: "admin", response: InvitationList },
  invite:             { method: "POST",   path: "/invitations", role: "admin", body: NewInvitation, response: CreatedInvitation, status: 201 },
  revokeInvitation:   { method: "DELETE", path: "/invitations/:id", role: "admin" },
  listAuditEntries:   { method: "GET",    path: "/audit", role: "admin", response: AuditPage },
  listAuditPeople:    { method: "GET",    path: "/audit/people", role: "admin", response: AuditPeople },
  exportAudit:        { method: "GET",    path: "/audit.csv", role: "admin" },
} as const satisfies Record<string, AccountRoute>;

/** Feeds the server, the dashboard's client, the API reference, the client library and the command line. */
export const ROUTE_TABLE = { ...APP_ROUTES, ...ACCOUNT_ROUTES };
export type TableRoute = AppRoute | AccountRoute;
export type TableRouteName = keyof typeof ROUTE_TABLE;

export const AUTH_PREFIX = "/api/auth";

// biome-ignore format: one route a line
/** The routes of better-auth that are open (server/accounts/auth/auth-allow-list.ts), below AUTH_PREFIX. */
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
