import { createRootRoute, createRoute, createRouter, type RouteComponent } from "@tanstack/react-router";
import { FORGOT_PASSWORD, HOME, INVITATION, RESET_PASSWORD, SET_UP, SIGN_IN, SIGN_UP } from "./paths.ts";
import { AppGate } from "./shell/AppGate.tsx";
import { Crash } from "./shell/Crash.tsx";
import { lazyScreen } from "./shell/lazy-screen.tsx";
import { Lost, NotFound } from "./shell/NotFound.tsx";
import { Root } from "./shell/Root.tsx";
import { Shell } from "./shell/Shell.tsx";

// The table of contents of the dashboard: every screen with its address. Screens are loaded when they are first shown.
// An address in here has its function in paths.ts, and its place in the navigation in shell/navigation.ts.

type Screen = readonly [path: string, component: RouteComponent];

// biome-ignore format: one screen a line
/** For whoever is not signed in. */
const ENTRY_SCREENS: readonly Screen[] = [
  [SET_UP,          lazyScreen(() => import("./pages/SetUp.tsx"), "SetUpPage")],
  [SIGN_IN,         lazyScreen(() => import("./pages/SignIn.tsx"), "SignInPage")],
  [SIGN_UP,         lazyScreen(() => import("./pages/SignUp.tsx"), "SignUpPage")],
  [FORGOT_PASSWORD, lazyScreen(() => import("./pages/ForgotPassword.tsx"), "ForgotPasswordPage")],
  [RESET_PASSWORD,  lazyScreen(() => import("./pages/ResetPassword.tsx"), "ResetPasswordPage")],
  [INVITATION,      lazyScreen(() => import("./pages/Invitation.tsx"), "InvitationPage")],
];

// biome-ignore format: one screen a line
/** For whoever is signed in, whichever organization they look at. */
const PERSON_SCREENS: readonly Screen[] = [
  ["/",                 lazyScreen(() => import("./pages/Start.tsx"), "StartPage")],
  ["/new-organization", lazyScreen(() => import("./pages/NewOrganization.tsx"), "NewOrganizationPage")],
];

// biome-ignore format: one screen a line
/** Of one organization: /app/{organization}/…. */
const ORGANIZATION_SCREENS: readonly Screen[] = [
  ["/",                 lazyScreen(() => import("./pages/OrganizationStart.tsx"), "OrganizationStartPage")],
  ["/analytics",        lazyScreen(() => import("./pages/Analytics.tsx"), "AnalyticsPage")],
  ["/bookings",         lazyScreen(() => import("./pages/Bookings.tsx"), "BookingsPage")],
  ["/bookings/$reference", lazyScreen(() => import("./pages/Booking.tsx"), "BookingPage")],
  ["/widgets",          lazyScreen(() => import("./pages/Widgets.tsx"), "WidgetsPage")],
  ["/widgets/$widget",  lazyScreen(() => import("./pages/Widget.tsx"), "WidgetPage")],
  ["/webhooks",         lazyScreen(() => import("./pages/Webhooks.tsx"), "WebhooksPage")],
  ["/webhooks/$endpoint", lazyScreen(() => import("./pages/Endpoint.tsx"), "EndpointPage")],
  ["/deliveries",       lazyScreen(() => import("./pages/Deliveries.tsx"), "DeliveriesPage")],
  ["/deliveries/$delivery", lazyScreen(() => import("./pages/Delivery.tsx"), "DeliveryPage")],
  ["/keys",             lazyScreen(() => import("./pages/ApiKeys.tsx"), "ApiKeysPage")],
  ["/connections",      lazyScreen(() => import("./pages/Connections.tsx"), "ConnectionsPage")],
  ["/members",          lazyScreen(() => import("./pages/Members.tsx"), "MembersPage")],
  ["/audit",            lazyScreen(() => import("./pages/Audit.tsx"), "AuditPage")],
  ["/settings",         lazyScreen(() => import("./pages/Settings.tsx"), "SettingsPage")],
  ["/profile",          lazyScreen(() => import("./pages/Profile.tsx"), "ProfilePage")],
];

const root = createRootRoute({ component: Root, notFoundComponent: Lost, errorComponent: Crash });
const app = createRoute({ getParentRoute: () => root, path: HOME, component: AppGate });
const organization = createRoute({
  getParentRoute: () => app,
  path: "$organization",
  component: Shell,
  notFoundComponent: NotFound,
});

const toRoute =
  <Parent extends typeof root | typeof app | typeof organization>(parent: Parent) =>
  ([path, component]: Screen) =>
    createRoute({ getParentRoute: () => parent, path, component });

export const router = createRouter({
  routeTree: root.addChildren([
    ...ENTRY_SCREENS.map(toRoute(root)),
    app.addChildren([
      ...PERSON_SCREENS.map(toRoute(app)),
      organization.addChildren(ORGANIZATION_SCREENS.map(toRoute(organization))),
    ]),
  ]),
  // Plain texts: ?search=12 stays what was typed.
  parseSearch: (text) => Object.fromEntries(new URLSearchParams(text)),
  stringifySearch: (search) => {
    const given = Object.entries(search).filter(([, value]) => value !== undefined && value !== "");
    return given.length === 0 ? "" : `?${new URLSearchParams(given.map(([name, value]) => [name, String(value)]))}`;
  },
  defaultPreload: "intent",
  defaultErrorComponent: Crash,
  scrollRestoration: true,
});
