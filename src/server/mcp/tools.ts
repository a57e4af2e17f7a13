import type { TSchema } from "typebox";
import { Type } from "typebox";
import { COMPARISONS, PERIODS } from "#contract/app/analytics.ts";
import type { OrganizationId } from "#contract/ids.ts";
import type { Plan } from "#contract/plans.ts";
import { BookingsQuery, BreakdownQuery, READ_ROUTES } from "#contract/read-routes.ts";
import type { KeyScope } from "#contract/scopes.ts";
import { DELIVERY_LOG_DAYS } from "#contract/webhooks/delivery.ts";
import { readBreakdownCompared, readReport } from "../analytics/analytics.ts";
import { readBookingPage } from "../bookings/bookings.ts";
import type { Deps } from "../deps.ts";
import type { Query } from "../http/parameters.ts";
import { readFailingDeliveries } from "../webhooks/webhooks.ts";
import { readWidgets } from "../widgets/widgets.ts";

// What assistants can ask. Parameters are those of the read API and of the dashboard's analytics, and are checked by the same code.

export type ToolCaller = {
  organizationId: OrganizationId;
  plan: Plan;
  timeZone: string | null;
  scopes: readonly KeyScope[];
};

type Tool = {
  name: string;
  title: string;
  description: string;
  /** The key needs one of these. */
  scopes: readonly KeyScope[];
  parameters: Readonly<Record<string, TSchema>>;
  run(deps: Pick<Deps, "db" | "clock" | "config">, caller: ToolCaller, query: Query): Promise<object>;
};

const { dimension, limit: _limit, cursor: _cursor, ...windowAndFilters } = BreakdownQuery.properties;

const questionParameters = {
  period: Type.Optional(Type.Enum([...PERIODS], { description: "A named period, instead of days, or from and to." })),
  ...windowAndFilters,
  compare: Type.Optional(
    Type.Enum([...COMPARISONS], {
      description: "What to compare with: the days before (default), a year ago, compareFrom to compareTo, or nothing.",
    }),
  ),
  compareFrom: Type.Optional(Type.String({ format: "date", description: "First day, if compare is custom." })),
  compareTo: Type.Optional(Type.String({ format: "date", description: "Last day, if compare is custom." })),
};

export const TOOLS: readonly Tool[] = [
  {
    name: "list_widgets",
    title: "List widgets",
    description: "The organization's booking widgets, with their IDs, names and status.",
    scopes: READ_ROUTES.listWidgets.scopes,
    parameters: {},
    run: async (deps, { organizationId }) => ({ widgets: await readWidgets(deps, organizationId) }),
  },
  {
    name: "get_analytics",
    title: "Get analytics",
    description:
      "Views, bookings, conversion rate, funnel steps and daily counts of a period, with any filters, compared with another period.",
    scopes: READ_ROUTES.getAnalytics.scopes,
    parameters: questionParameters,
    async run(deps, caller, query) {
      const { from, to, timeZone, totals, funnel, daily, previous } = await readReport(deps, caller, query);
      const before = previous && {
        from: previous.from,
        to: previous.to,
        totals: previous.totals,
        isComplete: previous.isComplete,
      };
      return { from, to, timeZone, totals, funnel, daily, previous: before };
    },
  },
  {
    name: "get_breakdown",
    title: "Get a breakdown",
    description:
      "Views and bookings by channel, source, campaign, page, device, country, widget or service: the 50 largest rows, with any " +
      "filters, each compared with another period.",
    scopes: READ_ROUTES.getBreakdown.scopes,
    parameters: { dimension, ...questionParameters },
    run: async (deps, caller, query) => await readBreakdownCompared(deps, caller, query),
  },
  {
    name: "list_failing_deliveries",
    title: "List failing deliveries",
    description: `Webhook endpoints that are failing or off, and the newest deliveries of the last ${DELIVERY_LOG_DAYS} days that failed or are being retried, with the reason.`,
    scopes: [...READ_ROUTES.listBookings.scopes, "manage"],
    parameters: {},
    run: async (deps, { organizationId }) => await readFailingDeliveries(deps, organizationId),
  },
  {
    name: "list_bookings",
    title: "List bookings",
    description:
      "Stored bookings, newest first by createdAt. Without the scope `bookings`, everything about the customer is left out. Send " +
      "nextCursor back as cursor for the next page.",
    scopes: READ_ROUTES.listBookings.scopes,
    parameters: BookingsQuery.properties,
    async run(deps, caller, query) {
      return JSON.parse(await readBookingPage(deps, caller, query));
    },
  },
];

export function listToolsFor(scopes: readonly KeyScope[]): Tool[] {
  return TOOLS.filter((tool) => tool.scopes.some((scope) => scopes.includes(scope)));
}
