import { createRootRoute, createRoute, createRouter, type RouteComponent } from "@tanstack/react-router";
import { DASHBOARD_ADDRESS, ENTRY_PAGES } from "#contract/app/addresses.ts";
import { AppGate } from "./shell/AppGate.tsx";
import { lazyScreen } from "./shell/lazy-screen.tsx";
import { Crash, Lost, NotFound, Root } from "./shell/Root.tsx";
import { Shell } from "./shell/Shell.tsx";

// The dashboard's table of contents: every screen with its address. The code of a screen is loaded when it is first shown.
// Links to these addresses come from paths.ts; the sidebar lists them in shell/Navigation.tsx.

type Screen = readonly [path: string, component: RouteComponent];

// biome-ignore format: one screen a line
/** Before signing in. */
const ENTRY_SCREENS: readonly Screen[] = [
  [ENTRY_PAGES.setUp,          lazyScreen(() => import("./entry/SetUpPage.tsx"), "SetUpPage")],
  [ENTRY_PAGES.signIn,         lazyScreen(() => import("./entry/SignInPage.tsx"), "SignInPage")],
  [ENTRY_PAGES.signUp,         lazyScreen(() => import("./entry/SignUpPage.tsx"), "SignUpPage")],
  [ENTRY_PAGES.forgotPassword, lazyScreen(() => import("./entry/PasswordPages.tsx"), "ForgotPasswordPage")],
  [ENTRY_PAGES.resetPassword,  lazyScreen(() => import("./entry/PasswordPages.tsx"), "ResetPasswordPage")],
  [ENTRY_PAGES.invitation,     lazyScreen(() => import("./entry/InvitationPage.tsx"), "InvitationPage")],
  [ENTRY_PAGES.sharedReport,   lazyScreen(() => import("./analytics/sharing/SharedReportPage.tsx"), "SharedReportPage")],
];

// biome-ignore format: one screen a line
/** Screens that don't belong to one organization. */
const PERSON_SCREENS: readonly Screen[] = [
  ["/",                 lazyScreen(() => import("./entry/StartPage.tsx"), "StartPage")],
  ["/new-organization", lazyScreen(() => import("./entry/StartPage.tsx"), "NewOrganizationPage")],
];

// biome-ignore format: one screen a line
/** Below /app/{organization}. */
const ORGANIZATION_SCREENS: readonly Screen[] = [
  ["/",                 lazyScreen(() => import("./overview/OverviewPage.tsx"), "OverviewPage")],
  ["/analytics",        lazyScreen(() => import("./analytics/AnalyticsPage.tsx"), "AnalyticsPage")],
  ["/bookings",         lazyScreen(() => import("./bookings/BookingsPage.tsx"), "BookingsPage")],
  ["/bookings/sources", lazyScreen(() => import("./bookings/SourcesPage.tsx"), "SourcesPage")],
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
const app = createRoute({ getParentRoute: () => root, path: DASHBOARD_ADDRESS, component: AppGate });
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
  // Values stay strings: ?search=12 is the text 12. A name that is repeated has several values, one per line.
  parseSearch: (text) => {
    const search: Record<string, string> = {};
    for (const [name, value] of new URLSearchParams(text)) {
      const known = search[name];
      search[name] = known === undefined ? value : `${known}\n${value}`;
    }
    return search;
  },
  stringifySearch: (search) => {
    const given = Object.entries(search).flatMap(([name, value]) =>
      value === undefined || value === ""
        ? []
        : String(value)
            .split("\n")
            .map((line) => [name, line]),
    );
    return given.length === 0 ? "" : `?${new URLSearchParams(given)}`;
  },
  defaultPreload: "intent",
  defaultErrorComponent: Crash,
  scrollRestoration: true,
});
