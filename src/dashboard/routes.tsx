import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  type RouteComponent,
} from "@tanstack/react-router";
import { FORGOT_PASSWORD, HOME, INVITATION, RESET_PASSWORD, SET_UP, SIGN_IN, SIGN_UP } from "./paths.ts";
import { AppGate } from "./shell/AppGate.tsx";
import { Crash } from "./shell/Crash.tsx";
import { Lost, NotFound } from "./shell/NotFound.tsx";
import { Root } from "./shell/Root.tsx";
import { Shell } from "./shell/Shell.tsx";

// The table of contents of the dashboard: every screen with its address. Screens are loaded when they are first shown.
// An address in here has its function in paths.ts, and its place in the navigation in shell/navigation.ts.

type Screen = readonly [path: string, component: RouteComponent];

// biome-ignore format: one screen a line
/** For whoever is not signed in. */
const ENTRY_SCREENS: readonly Screen[] = [
  [SET_UP,          lazyRouteComponent(() => import("./pages/SetUp.tsx"), "SetUpPage")],
  [SIGN_IN,         lazyRouteComponent(() => import("./pages/SignIn.tsx"), "SignInPage")],
  [SIGN_UP,         lazyRouteComponent(() => import("./pages/SignUp.tsx"), "SignUpPage")],
  [FORGOT_PASSWORD, lazyRouteComponent(() => import("./pages/ForgotPassword.tsx"), "ForgotPasswordPage")],
  [RESET_PASSWORD,  lazyRouteComponent(() => import("./pages/ResetPassword.tsx"), "ResetPasswordPage")],
  [INVITATION,      lazyRouteComponent(() => import("./pages/Invitation.tsx"), "InvitationPage")],
];

// biome-ignore format: one screen a line
/** For whoever is signed in, whichever organization they look at. */
const PERSON_SCREENS: readonly Screen[] = [
  ["/",                 lazyRouteComponent(() => import("./pages/Start.tsx"), "StartPage")],
  ["/new-organization", lazyRouteComponent(() => import("./pages/NewOrganization.tsx"), "NewOrganizationPage")],
];

// biome-ignore format: one screen a line
/** Of one organization: /app/{organization}/…. */
const ORGANIZATION_SCREENS: readonly Screen[] = [
  ["/",                 lazyRouteComponent(() => import("./pages/OrganizationStart.tsx"), "OrganizationStartPage")],
  ["/analytics",        lazyRouteComponent(() => import("./pages/Analytics.tsx"), "AnalyticsPage")],
  ["/bookings",         lazyRouteComponent(() => import("./pages/Bookings.tsx"), "BookingsPage")],
  ["/bookings/$reference", lazyRouteComponent(() => import("./pages/Booking.tsx"), "BookingPage")],
  ["/widgets",          lazyRouteComponent(() => import("./pages/Widgets.tsx"), "WidgetsPage")],
  ["/widgets/$widget",  lazyRouteComponent(() => import("./pages/Widget.tsx"), "WidgetPage")],
  ["/webhooks",         lazyRouteComponent(() => import("./pages/Webhooks.tsx"), "WebhooksPage")],
  ["/webhooks/$endpoint", lazyRouteComponent(() => import("./pages/Endpoint.tsx"), "EndpointPage")],
  ["/deliveries",       lazyRouteComponent(() => import("./pages/Deliveries.tsx"), "DeliveriesPage")],
  ["/deliveries/$delivery", lazyRouteComponent(() => import("./pages/Delivery.tsx"), "DeliveryPage")],
  ["/keys",             lazyRouteComponent(() => import("./pages/ApiKeys.tsx"), "ApiKeysPage")],
  ["/connections",      lazyRouteComponent(() => import("./pages/Connections.tsx"), "ConnectionsPage")],
  ["/members",          lazyRouteComponent(() => import("./pages/Members.tsx"), "MembersPage")],
  ["/audit",            lazyRouteComponent(() => import("./pages/Audit.tsx"), "AuditPage")],
  ["/settings",         lazyRouteComponent(() => import("./pages/Settings.tsx"), "SettingsPage")],
  ["/profile",          lazyRouteComponent(() => import("./pages/Profile.tsx"), "ProfilePage")],
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
