import type { FastifyInstance } from "fastify";
import { AppAnalytics } from "#contract/app/analytics.ts";
import { type Member, memberOf } from "../accounts/auth/member-auth.ts";
import type { Deps } from "../deps.ts";
import { badParameter, isDryRun, type Query, readParameter } from "../http/parameters.ts";
import { toKeptSince } from "../plans/kept-since.ts";
import { requireWidget } from "../widgets/require-widget.ts";
import { type DayWindow, previousWindow, readDayWindow } from "./app-window.ts";
import { ANALYTICS_TABLES, type AnalyticsTable, exportAnalytics } from "./export.ts";
import { countDrops, selectAnalytics, selectDataRange } from "./queries.ts";
import { toAnalytics } from "./report.ts";

type AnalyticsDeps = Pick<Deps, "db" | "clock">;

export function analyticsAppRoutes(api: FastifyInstance, deps: AnalyticsDeps): void {
  api.get("/analytics", { schema: { response: { 200: AppAnalytics } } }, async (request) => {
    return await readReport(deps, memberOf(request), request.query as Query);
  });

  api.get("/analytics.csv", async (request, reply) => {
    const query = request.query as Query;
    const table = requireTable(readParameter(query, "table") ?? "daily");
    const report = await readReport(deps, memberOf(request), query);
    if (isDryRun(query)) return reply.code(204).send();
    return reply
      .type("text/csv; charset=utf-8")
      .header("content-disposition", `attachment; filename="${table}-${report.from}-${report.to}.csv"`)
      .send(exportAnalytics(report, table));
  });
}

async function readReport(deps: AnalyticsDeps, member: Member, query: Query): Promise<AppAnalytics> {
  const owner = member.organizationId;
  const widget = readParameter(query, "widget");
  const widgetId = widget === null ? null : await requireWidget(deps.db, owner, widget);
  const now = deps.clock.now();
  const scope = { now, keptSince: toKeptSince(member.plan, now), widgetId };
  const range = await selectDataRange(deps.db, owner, scope);
  const read = async ({ days, to }: DayWindow) =>
    toAnalytics(await selectAnalytics(deps.db, owner, { ...scope, days, lastDay: to }), days);
  const window = readDayWindow(query, range.today);
  const before = previousWindow(window);
  const previous = await read(before);
  return {
    ...(await read(window)),
    from: window.from,
    to: window.to,
    previous: {
      from: before.from,
      to: before.to,
      totals: previous.totals,
      isComplete: range.data_since !== null && before.from >= range.data_since,
    },
    dataSince: range.data_since,
    droppedEvents: await countDrops(deps.db, owner, { ...window, widgetId }),
  };
}

function requireTable(text: string): AnalyticsTable {
  const table = ANALYTICS_TABLES.find((each) => each === text);
  if (!table) throw badParameter("table", `must be one of ${ANALYTICS_TABLES.join(", ")}`);
  return table;
}
