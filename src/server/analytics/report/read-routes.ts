import type { Breakdown } from "#contract/analytics.ts";
import type { ReadRoutes } from "../../api-keys/api-keys.ts";
import type { Deps } from "../../deps.ts";
import { type Query, readPageSize, readParameter, readWindowDays } from "../../http/parameters.ts";
import { type Reader, readAnalytics, readQuestion } from "./app-report.ts";
import { lastDays, readDayWindow, type Today } from "./app-window.ts";
import { readBreakdown, readDimension } from "./breakdown/breakdown.ts";
import { readCursor, requireSameList, toAskedText, toCursor } from "./breakdown/cursor.ts";
import { LARGEST_FIRST } from "./breakdown/queries.ts";
import { readFilters, requireKnownKeys } from "./filters.ts";

type ReadDeps = Pick<Deps, "db" | "clock">;

export function analyticsReadRoutes(routes: ReadRoutes, deps: ReadDeps): void {
  routes.add("getAnalytics", async ({ caller, query, request: { signal } }) => {
    const [days, widget] = [readWindowDays(query, "days"), readParameter(query, "widget")];
    const readWindow = (_: Query, { today }: Today) => lastDays(today, days);
    const asked = widget === null ? {} : { widget };
    return await readAnalytics(deps.db, await readQuestion(deps, { ...caller, signal }, asked, readWindow));
  });

  routes.add("getBreakdown", async ({ caller, query, request: { signal } }) => {
    return await readBreakdownPage(deps, { ...caller, signal }, query);
  });
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
