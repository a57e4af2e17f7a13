import type * as account from "#contract/app/account.ts";
import type * as analytics from "#contract/app/analytics.ts";
import type { AuditPage, AuditPeople } from "#contract/app/audit.ts";
import type * as bookings from "#contract/app/bookings.ts";
import type * as connections from "#contract/app/connections.ts";
import type * as deliveries from "#contract/app/deliveries.ts";
import type * as endpoints from "#contract/app/endpoints.ts";
import type { AppKeyList, CreatedKey, NewKey } from "#contract/app/keys.ts";
import type { Overview } from "#contract/app/overview.ts";
import type { ReportChange, ReportSubscriptions } from "#contract/app/reports.ts";
import type { MemberRole } from "#contract/app/role.ts";
import { ACCOUNT_ROUTES, APP_PREFIX, APP_ROUTES, AUTH_PREFIX, AUTH_ROUTES } from "#contract/app/routes.ts";
import type * as widgets from "#contract/app/widgets.ts";
import { type Query, send, toAddress } from "./client.ts";

const ROUTES = { ...APP_ROUTES, ...ACCOUNT_ROUTES, ...AUTH_ROUTES };

/** The request body and the answer of every route in contract/app/routes.ts. CSV files have no entry: see download.ts. */
type Calls = {
  getOverview: { answer: Overview };
  dismissChecklist: { answer: null };
  listWidgets: { answer: widgets.AppWidgetList };
  createWidget: { answer: widgets.AppWidget; body: widgets.NewWidget };
  getWidget: { answer: widgets.AppWidget };
  changeWidget: { answer: widgets.AppWidget; body: widgets.WidgetChange };
  listWidgetServices: { answer: widgets.WidgetServices };
  goLive: { answer: widgets.AppWidget; body: widgets.GoLiveRequest };
  goBackToTest: { answer: widgets.AppWidget };
  clearTestData: { answer: widgets.TestDataShape; body: widgets.ClearTestRequest };
  listBookings: { answer: bookings.BookingSummaryPage };
  countBookings: { answer: bookings.BookingCount };
  getBooking: { answer: bookings.BookingDetail };
  deleteBooking: { answer: null };
  eraseBookings: { answer: bookings.EraseAnswer; body: bookings.EraseRequest };
  getAnalytics: { answer: analytics.AppAnalytics };
  getBreakdown: { answer: analytics.AppBreakdown };
  splitFunnel: { answer: analytics.FunnelSplit };
  getBookingTimes: { answer: analytics.BookingTimes };
  getLiveView: { answer: analytics.LiveView };
  getReports: { answer: ReportSubscriptions };
  changeReports: { answer: ReportSubscriptions; body: ReportChange };
  listEndpoints: { answer: endpoints.AppEndpointList };
  addEndpoint: { answer: endpoints.AddedEndpoint; body: endpoints.NewEndpoint };
  changeEndpoint: { answer: endpoints.AppEndpoint; body: endpoints.EndpointChange };
  removeEndpoint: { answer: null };
  tryFilters: { answer: endpoints.FilterTrial; body: endpoints.FilterTrialRequest };
  testEndpoint: { answer: deliveries.QueuedDelivery };
  rotateSecret: { answer: endpoints.RotatedSecret; body: endpoints.RotateSecretRequest };
  retryEndpoint: { answer: endpoints.RetriedDeliveries };
  getStatistics: { answer: endpoints.EndpointStatistics };
  listDeliveries: { answer: deliveries.AppDeliveryPage };
  getDelivery: { answer: deliveries.AppDeliveryDetail };
  redeliver: { answer: deliveries.QueuedDelivery };
  retryDelivery: { answer: deliveries.QueuedDelivery };
  listRedeliveries: { answer: deliveries.AppRedeliveryList };
  getRedelivery: { answer: deliveries.AppRedelivery };
  countRedelivery: { answer: deliveries.RedeliveryCount; body: deliveries.NewRedelivery };
  startRedelivery: { answer: deliveries.AppRedelivery; body: deliveries.NewRedelivery };
  cancelRedelivery: { answer: null };
  listKeys: { answer: AppKeyList };
  createKey: { answer: CreatedKey; body: NewKey };
  revokeKey: { answer: null };
  listConnections: { answer: connections.AppConnectionList };
  addConnection: { answer: connections.SavedConnection; body: connections.NewConnection };
  changeConnection: { answer: connections.SavedConnection; body: connections.ConnectionChange };
  removeConnection: { answer: null };
  checkConnection: { answer: connections.ConnectionCheckAnswer; body: connections.ConnectionCheckRequest };

  listSignInOptions: { answer: account.SignInOptions };
  setUp: { answer: account.CreatedOrganization; body: account.SetUpRequest };
  requestSignUpLink: { answer: null; body: account.SignUpLinkRequest };
  signUp: { answer: null; body: account.SignUpRequest };
  lookUpInvitation: { answer: account.InvitationPreview; body: { token: string } };
  acceptInvitation: { answer: account.JoinedOrganization; body: account.InvitationAcceptance };
  getMe: { answer: account.Me };
  changeMe: { answer: null; body: account.MeChange };
  listSignIns: { answer: account.SignIns };
  endOtherSignIns: { answer: null };
  endSignIn: { answer: null };
  disconnectOidc: { answer: null };
  createOrganization: { answer: account.CreatedOrganization; body: account.NewOrganization };
  getOrganization: { answer: account.OrganizationShape };
  changeOrganization: { answer: account.OrganizationShape; body: account.OrganizationChange };
  saveLogo: { answer: null; body: account.NewLogo };
  removeLogo: { answer: null };
  deleteOrganization: { answer: null; body: account.OrganizationDeletion };
  listMembers: { answer: account.MemberList };
  changeMember: { answer: null; body: account.MemberChange };
  removeMember: { answer: null };
  listInvitations: { answer: account.InvitationList };
  invite: { answer: account.CreatedInvitation; body: account.NewInvitation };
  revokeInvitation: { answer: null };
  listAuditEntries: { answer: AuditPage };
  listAuditPeople: { answer: AuditPeople };

  /** `twoFactorRedirect`: the password was right, and a code is needed next. */
  signIn: { answer: { twoFactorRedirect?: boolean }; body: { email: string; password: string } };
  /** `url`: the sign-in page of the OpenID Connect issuer. */
  signInWithOidc: { answer: { url: string }; body: { callbackURL: string; errorCallbackURL: string } };
  connectOidc: { answer: { url: string }; body: { callbackURL: string; errorCallbackURL: string } };
  signInWithCode: { answer: unknown; body: { code: string } };
  signInWithRecoveryCode: { answer: unknown; body: { code: string } };
  signOut: { answer: unknown; body: object };
  requestPasswordReset: { answer: unknown; body: { email: string } };
  resetPassword: { answer: unknown; body: { token: string; newPassword: string } };
  changePassword: { answer: unknown; body: { currentPassword: string; newPassword: string } };
  enableTwoFactor: { answer: { totpURI: string; backupCodes: string[] }; body: { password: string } };
  confirmTwoFactor: { answer: unknown; body: { code: string } };
  disableTwoFactor: { answer: unknown; body: { password: string } };
  createRecoveryCodes: { answer: { backupCodes: string[] }; body: { password: string } };
};

type CallName = keyof Calls;
type BodyOf<Name extends CallName> = Calls[Name] extends { body: infer Body } ? { body: Body } : { body?: never };
/** Only routes that need a role belong to an organization. */
type OrganizationOf<Name extends CallName> = (typeof ROUTES)[Name]["role"] extends MemberRole
  ? { organization: string }
  : { organization?: never };

type CallOptions = {
  /** Fills the `:name` parts of the route's path. */
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Query;
  /** See hooks/use-idempotency-key.ts. */
  readonly idempotencyKey?: string;
  readonly signal?: AbortSignal;
};

/** Calls a route by its name in the contract: `call("getWidget", { organization, params: { widget: id } })`. */
export async function call<Name extends CallName>(
  name: Name,
  { params, ...request }: CallOptions & OrganizationOf<Name> & BodyOf<Name>,
): Promise<Calls[Name]["answer"]> {
  const { method, role } = ROUTES[name];
  // To getMe a 401 is an ordinary answer: shell/AppGate.tsx asks it whether anyone is signed in.
  const isEntry = role === "anyone" || name === "getMe";
  return await send({ method, path: pathOf(name, params), isEntry, ...request });
}

/** A route's address with its query, for links to files. */
export function addressOf(name: keyof typeof ROUTES, query: NonNullable<CallOptions["query"]>): string {
  return toAddress(pathOf(name), query);
}

function pathOf(name: keyof typeof ROUTES, params: CallOptions["params"] = {}): string {
  const prefix = name in AUTH_ROUTES ? AUTH_PREFIX : APP_PREFIX;
  return prefix + ROUTES[name].path.replaceAll(/:(\w+)/g, (_, key) => encodeURIComponent(params[key] ?? ""));
}
