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
  [SET_UP,          lazyScreen(() => import("./entry/SetUpPage.tsx"), "SetUpPage")],
  [SIGN_IN,         lazyScreen(() => import("./entry/SignInPage.tsx"), "SignInPage")],
  [SIGN_UP,         lazyScreen(() => import("./entry/SignUpPage.tsx"), "SignUpPage")],
  [FORGOT_PASSWORD, lazyScreen(() => import("./entry/ForgotPasswordPage.tsx"), "ForgotPasswordPage")],
  [RESET_PASSWORD,  lazyScreen(() => import("./entry/ResetPasswordPage.tsx"), "ResetPasswordPage")],
  [INVITATION,      lazyScreen(() => import("./entry/InvitationPage.tsx"), "InvitationPage")],
];

// biome-ignore format: one screen a line
/** For whoever is signed in, whichever organization they look at. */
const PERSON_SCREENS: readonly Screen[] = [
  ["/",                 lazyScreen(() => import("./entry/StartPage.tsx"), "StartPage")],
  ["/new-organization", lazyScreen(() => import("./entry/NewOrganizationPage.tsx"), "NewOrganizationPage")],
];

// biome-ignore format: one screen a line
/** Of one organization: /app/{organization}/…. */
const ORGANIZATION_SCREENS: readonly Screen[] = [
  ["/",                 lazyScreen(() => import("./shell/OrganizationStartPage.tsx"), "OrganizationStartPage")],
  ["/analytics",        lazyScreen(() => import("./analytics/AnalyticsPage.tsx"), "AnalyticsPage")],
  ["/bookings",         lazyScreen(() => import("./bookings/BookingsPage.tsx"), "BookingsPage")],
  ["/bookings/$reference", lazyScreen(() => import("./bookings/BookingPage.tsx"), "BookingPage")],
  ["/widgets",          lazyScreen(() => import("./widgets/WidgetsPage.tsx"), "WidgetsPage")],
  ["/widgets/$widget",  lazyScreen(() => import("./widgets/WidgetPage.tsx"), "WidgetPage")],
  ["/webhooks",         lazyScreen(() => import("./webhooks/WebhooksPage.tsx"), "WebhooksPage")],
  ["/webhooks/$endpoint", lazyScreen(() => import("./webhooks/EndpointPage.tsx"), "EndpointPage")],
  ["/deliveries",       lazyScreen(() => import("./deliveries/DeliveriesPage.tsx"), "DeliveriesPage")],
  ["/deliveries/$delivery", lazyScreen(() => import("./deliveries/DeliveryPage.tsx"), "DeliveryPage")],
  ["/keys",             lazyScreen(() => import("./keys/ApiKeysPage.tsx"), "ApiKeysPage")],
  ["/connections",      lazyScreen(() => import("./connections/ConnectionsPage.tsx"), "ConnectionsPage")],
  ["/members",          lazyScreen(() => import("./members/MembersPage.tsx"), "MembersPage")],
  ["/audit",            lazyScreen(() => import("./audit/AuditPage.tsx"), "AuditPage")],
  ["/settings",         lazyScreen(() => import("./settings/SettingsPage.tsx"), "SettingsPage")],
  ["/profile",          lazyScreen(() => import("./profile/ProfilePage.tsx"), "ProfilePage")],
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
