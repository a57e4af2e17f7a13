import { keepPreviousData } from "@tanstack/react-query";
import type { WidgetChange } from "#contract/app/widgets.ts";
import { ask, askPages, call } from "./call.ts";
import { deliveriesKey } from "./deliveries.ts";

// Queries about people and the organization; other nouns have their own files. Keys of an organization's data start with its
// id, so that no response shows up under another organization.

export const optionsQuery = ask("listSignInOptions", ["sign-in-options"], {});

export const meKey = ["me"] as const;

export const meQuery = {
  ...ask("getMe", meKey, {}),
  // The session may have ended while the tab was in the background.
  refetchOnWindowFocus: "always" as const,
};

export const signInsQuery = ask("listSignIns", ["sign-ins"], {});

export const organizationQuery = (organization: string) =>
  ask("getOrganization", [organization, "organization"], { organization });

export const membersQuery = (organization: string) => ask("listMembers", [organization, "members"], { organization });

export const invitationsQuery = (organization: string) =>
  ask("listInvitations", [organization, "invitations"], { organization });

/** Parameters of /api/app/audit. Empty strings are left out of the request. */
export type AuditFilters = { search: string; person: string; action: string; from: string; to: string };

export const auditQuery = (organization: string, filters: AuditFilters) =>
  askPages("listAuditEntries", [organization, "audit", filters], { organization }, () => filters);

export const auditPeopleQuery = (organization: string) =>
  ask("listAuditPeople", [organization, "audit-people"], { organization });

export const keysQuery = (organization: string) => ask("listKeys", [organization, "keys"], { organization });

const REFRESH_MS = 15_000;

export const overviewQuery = (organization: string) => ({
  ...ask("getOverview", [organization, "overview"], { organization }),
  refetchInterval: REFRESH_MS,
  // People come back from the booking page in another tab to see the next step.
  refetchOnWindowFocus: "always" as const,
});

export const connectionsQuery = (organization: string) =>
  ask("listConnections", [organization, "connections"], { organization });

export const endpointsQuery = (organization: string) => ({
  ...ask("listEndpoints", [organization, "endpoints"], { organization }),
  refetchInterval: REFRESH_MS,
});

export const statisticsQuery = (organization: string, endpoint: string, period: string) => ({
  ...ask("getStatistics", [organization, "endpoints", endpoint, period], {
    organization,
    params: { endpoint },
    query: { period },
  }),
  refetchInterval: REFRESH_MS,
  placeholderData: keepPreviousData,
});

/** Queries to refresh after an endpoint changed; that can also create or cancel deliveries. */
export const endpointRefreshes = (organization: string) => [
  endpointsQuery(organization).queryKey,
  deliveriesKey(organization),
];

export const widgetsKey = (organization: string) => [organization, "widgets"] as const;

export const widgetsQuery = (organization: string) => ask("listWidgets", widgetsKey(organization), { organization });

export const widgetQuery = (organization: string, widget: string) =>
  ask("getWidget", [...widgetsKey(organization), widget], { organization, params: { widget } });

/** For useAction; changes only the given fields. */
export const changeWidget = (organization: string, widget: string) => ({
  run: (body: WidgetChange) => call("changeWidget", { organization, params: { widget }, body }),
  refreshes: [widgetsKey(organization)],
});

/** How much the widget has collected while it was not live. */
export const testDataQuery = (organization: string, widget: string) =>
  ask("clearTestData", [...widgetsKey(organization), widget, "test-data"], {
    organization,
    params: { widget },
    body: { dryRun: true },
  });

export const widgetServicesQuery = (organization: string, widget: string) =>
  ask("listWidgetServices", [...widgetsKey(organization), widget, "services"], { organization, params: { widget } });
