import { Analytics, Breakdown } from "#contract/analytics.ts";
import { AnalyticsQuery, BreakdownQuery } from "#contract/read-api.ts";
import { callerOf } from "../../api-keys/api-keys.ts";
import type { Deps } from "../../deps.ts";
import { type Query, readPageSize, readParameter, readWindowDays } from "../../http/parameters.ts";
import { type ReadApi, readApiResponses } from "../../http/read-api.ts";
import { type Reader, readAnalytics, readQuestion } from "./app-report.ts";
import { lastDays, readDayWindow, type Today } from "./app-window.ts";
import { readBreakdown, readDimension } from "./breakdown/breakdown.ts";
import { readCursor, requireSameList, toAskedText, toCursor } from "./breakdown/cursor.ts";
import { LARGEST_FIRST } from "./breakdown/queries.ts";
import { readFilters, requireKnownKeys } from "./filters.ts";

type ReadDeps = Pick<Deps, "db" | "clock">;

export function analyticsReadRoutes(api: ReadApi, deps: ReadDeps): void {
  api.get(
    "/analytics",
    {
      schema: {
        operationId: "getAnalytics",
        summary: "Get analytics",
        description:
          "Views, funnel and bookings for the last `days` days, counted in the organization's time zone. Built from " +
          "anonymous funnel events, so it does not depend on Store bookings. When days reaches beyond the retained period, the " +
          "data that is left is returned.",
        querystring: AnalyticsQuery,
        response: readApiResponses(Analytics, "The analytics of the window."),
      },
    },
    async (request) => {
      const query = request.query as Query;
      const [days, widget] = [readWindowDays(query, "days"), readParameter(query, "widget")];
      const reader = { ...callerOf(request), signal: request.signal };
      const readWindow = (_: Query, { today }: Today) => lastDays(today, days);
      const question = await readQuestion(deps, reader, widget === null ? {} : { widget }, readWindow);
      return await readAnalytics(deps.db, question);
    },
  );

  api.get(
    "/analytics/breakdown",
    {
      schema: {
        operationId: "getBreakdown",
        summary: "Get a breakdown",
        description:
          "Views and bookings by one dimension, for the last `days` days or from `from` to `to`, at most 730 days: for example " +
          "`?dimension=country&days=7` or `?dimension=country&from=2026-11-01&to=2026-11-07`. A visit " +
          "must match every filter; if a parameter is repeated, any of its values matches.",
        querystring: BreakdownQuery,
        response: readApiResponses(Breakdown, "One page of the breakdown."),
      },
    },
    async (request) => {
      const reader = { ...callerOf(request), signal: request.signal };
      return await readBreakdownPage(deps, reader, request.query as Query);
    },
  );
}

async function readBreakdownPage(deps: ReadDeps, reader: Reader, query: Query): Promise<Breakdown> {
  const dimension = readDimension(query);
  const limit = readPageSize(query, "limit");
  const cursor = readCursor(query);
  const filters = readFilters(query);
  requireKnownKeys(filters);
  const question = await readQuestion(deps, reader, query, (_, { today }) => {
    const window = readDayWindow(query, { today: cursor && cursor.today < today ? cursor.today : today });
    if (cursor) requireSameList(cursor, toAskedText({ dimension, window, filters }));
    return window;
  });
  const part = { ...LARGEST_FIRST, limit: limit + 1, after: cursor?.after ?? null };
  const { rows } = await readBreakdown(deps.db, question, { dimension, part });
  const data = rows.slice(0, limit).map(({ label: _, ...row }) => row);
  const last = rows.length > limit ? data.at(-1) : undefined;
  const { timeZone, window } = question;
  const asked = toAskedText({ dimension, window, filters });
  const nextCursor = last ? toCursor({ today: cursor?.today ?? question.today, asked, after: last }) : null;
  return { dimension, from: window.from, to: window.to, timeZone, data, nextCursor };
}
