import { Analytics } from "#contract/analytics.ts";
import { AnalyticsQuery } from "#contract/read-api.ts";
import { callerOf } from "../api-keys/bearer-auth.ts";
import type { Deps } from "../deps.ts";
import { type Query, readParameter, readWindowDays } from "../http/parameters.ts";
import { type ReadApi, readApiResponses } from "../http/read-api.ts";
import { toKeptSince } from "../plans/kept-since.ts";
import { requireWidget } from "../widgets/require-widget.ts";
import { selectAnalytics } from "./queries.ts";
import { toAnalytics } from "./report.ts";

/** GET /api/v1/analytics */
export function analyticsReadRoutes(api: ReadApi, deps: Pick<Deps, "db" | "clock">): void {
  api.get(
    "/analytics",
    {
      schema: {
        operationId: "getAnalytics",
        summary: "Get analytics",
        description:
          "Views, funnel and bookings of the last days, counted in the organization's time zone. Built from anonymous " +
          "funnel events, so it does not depend on Store bookings. When days reaches beyond the retained period, the " +
          "data that is left is returned.",
        querystring: AnalyticsQuery,
        response: readApiResponses(Analytics, "The analytics of the window."),
      },
    },
    async (request) => {
      const { organizationId, plan } = callerOf(request);
      const query = request.query as Query;
      const days = readWindowDays(query, "days");
      const widget = readParameter(query, "widget");
      const widgetId = widget === null ? null : await requireWidget(deps.db, organizationId, widget);
      const now = deps.clock.now();
      const keptSince = toKeptSince(plan, now);
      return toAnalytics(await selectAnalytics(deps.db, organizationId, { days, now, keptSince, widgetId }), days);
    },
  );
}
