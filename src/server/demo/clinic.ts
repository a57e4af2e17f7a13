import type { MemberRole } from "#contract/app/role.ts";
import { DEMO_WIDGET_IDS, type OrganizationId, type WidgetId } from "#contract/ids.ts";
import type { Template } from "#contract/widgets/widget.ts";
import type { SandboxSetup } from "../scheduler/scheduler.ts";
import { BRANCH_SETUP, CHILDREN_SETUP, CLINIC_SETUP } from "./clinic-setups.ts";

// The demo is about a dental clinic in Berlin with a branch in Potsdam. Its ids are fixed, so that it can be found again and deleted
// without touching anything else.

export const DEMO_ID = "org_DemoLindenhof111" as OrganizationId;
export const DEMO_NAME = "Lindenhof Dental";
export const DEMO_ZONE = "Europe/Berlin";
export const DEMO_SITE = "https://www.lindenhof-dental.example";
export const DEMO_KEY_NAME = "Warehouse sync";

export type DemoWidget = {
  readonly id: WidgetId;
  readonly name: string;
  readonly businessName: string;
  readonly template: Template;
  readonly accentColor: string;
  readonly storesBookings: boolean;
  /** How many days before loading it was paused; null if it is active. */
  readonly pausedDaysAgo: number | null;
  /** Its share of the visits that can go to any widget. */
  readonly share: number;
  readonly page: string;
  readonly setup: SandboxSetup;
};

export const WEBSITE: DemoWidget = {
  id: DEMO_WIDGET_IDS.website,
  name: "Website",
  businessName: "Lindenhof Dental",
  template: "classic",
  accentColor: "#1f6f5c",
  storesBookings: true,
  pausedDaysAgo: null,
  share: 0.6,
  page: `${DEMO_SITE}/booking`,
  setup: CLINIC_SETUP,
};

export const BRANCH: DemoWidget = {
  id: DEMO_WIDGET_IDS.branch,
  name: "Potsdam branch",
  businessName: "Lindenhof Dental Potsdam",
  template: "minimal",
  accentColor: "#1f6f5c",
  storesBookings: true,
  pausedDaysAgo: null,
  share: 0.25,
  page: `${DEMO_SITE}/potsdam`,
  setup: BRANCH_SETUP,
};

export const CHILDREN: DemoWidget = {
  id: DEMO_WIDGET_IDS.children,
  name: "Children's page",
  businessName: "Lindenhof Dental for children",
  template: "compact",
  accentColor: "#b4531f",
  storesBookings: true,
  pausedDaysAgo: null,
  share: 0.15,
  page: `${DEMO_SITE}/children`,
  setup: CHILDREN_SETUP,
};

/** The widget of the old website: paused, and it never stored bookings. */
export const LANDING_PAGE: DemoWidget = {
  id: DEMO_WIDGET_IDS.landingPage,
  name: "Old landing page",
  businessName: "Lindenhof Dental",
  template: "classic",
  accentColor: "#3b5bdb",
  storesBookings: false,
  pausedDaysAgo: 74,
  share: 0,
  page: `${DEMO_SITE}/summer`,
  setup: CLINIC_SETUP,
};

export const DEMO_WIDGETS = [WEBSITE, BRANCH, CHILDREN, LANDING_PAGE] as const;

type DemoPerson = { readonly name: string; readonly email: string; readonly role: MemberRole };

export const OWNER: DemoPerson = {
  name: "Dr. Ada Winter",
  email: "ada.winter@lindenhof-dental.example",
  role: "owner",
};

/** They share one password, so that every role can be tried. */
export const DEMO_PEOPLE: readonly DemoPerson[] = [
  OWNER,
  { name: "Jonas Größer", email: "jonas.groesser@lindenhof-dental.example", role: "admin" },
  { name: "Mina Yıldız", email: "mina.yildiz@lindenhof-dental.example", role: "member" },
  { name: "Tax office Kaiser", email: "office@kaiser-tax.example", role: "viewer" },
];
