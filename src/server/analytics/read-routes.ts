import { Type } from "typebox";
import { Compile } from "typebox/compile";
import { Analytics, Breakdown } from "#contract/analytics.ts";
import { AnalyticsQuery, BreakdownQuery } from "#contract/read-api.ts";
import { callerOf } from "../api-keys/bearer-auth.ts";
import type { Deps } from "../deps.ts";
import { badParameter, type Query, readPageSize, readParameter, readWindowDays } from "../http/parameters.ts";
import { type ReadApi, readApiResponses } from "../http/read-api.ts";
import { parseJsonText } from "../lib/json-text.ts";
import { toKeptSince } from "../plans/kept-since.ts";
import { requireWidget } from "../widgets/require-widget.ts";
import { readQuestion } from "./app-report.ts";
import { readDayWindow } from "./app-window.ts";
import { readBreakdown, readDimension } from "./breakdown.ts";
import type { KeyCounts } from "./lists.ts";
import { readAnalytics } from "./read-analytics.ts";

/** GET /api/v1/analytics and /api/v1/analytics/breakdown */
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
      return await readAnalytics(deps.db, organizationId, { days, now, keptSince, widgetId, signal: request.signal });
    },
  );

  api.get(
    "/analytics/breakdown",
    {
      schema: {
        operationId: "getBreakdown",
        summary: "Get a breakdown",
        description:
          "Views and bookings by one dimension, for the last days or for a range of days, with any filters. All filters must " +
          "hold; several values of one parameter are alternatives.",
        querystring: BreakdownQuery,
        response: readApiResponses(Breakdown, "One page of the breakdown."),
      },
    },
    async (request) => {
      const query = request.query as Query;
      const dimension = readDimension(query);
      const limit = readPageSize(query, "limit");
      const after = readCursor(query);
      const question = await readQuestion(deps, { ...callerOf(request), signal: request.signal }, query, readDayWindow);
      const part = { search: null, sort: "bookings", isAscending: false, offset: 0, limit: limit + 1, after } as const;
      const { rows } = await readBreakdown(deps.db, question, { dimension, part });
      const data = rows.slice(0, limit).map(({ label: _, ...row }) => row);
      const last = rows.length > limit ? data.at(-1) : undefined;
      const { timeZone, window } = question;
      return { dimension, from: window.from, to: window.to, timeZone, data, nextCursor: last ? toCursor(last) : null };
    },
  );
}

/** The last row of a page. The next page begins after it, even if counts have changed meanwhile. */
function toCursor({ bookings, views, key }: KeyCounts): string {
  return Buffer.from(JSON.stringify([bookings, views, key])).toString("base64url");
}

const Cursor = Compile(Type.Tuple([Type.Integer(), Type.Integer(), Type.String()]));

function readCursor(query: Query): KeyCounts | null {
  const text = readParameter(query, "cursor");
  if (text === null) return null;
  const parsed = parseJsonText(Buffer.from(text, "base64url").toString());
  const value = "value" in parsed ? parsed.value : null;
  if (!Cursor.Check(value)) throw badParameter("cursor", "must be the nextCursor of a previous page");
  const [bookings, views, key] = value;
  return { bookings, views, key };
}
