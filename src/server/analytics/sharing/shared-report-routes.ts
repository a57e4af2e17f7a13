import type { HttpRoutes } from "../../accounts/accounts.ts";
import type { Config } from "../../config.ts";
import type { Deps } from "../../deps.ts";
import { ApiError } from "../../http/errors/api-error.ts";
import { toClientNetwork } from "../../http/limits/client-network.ts";
import { limitByNetwork, rateLimited } from "../../http/limits/rate-limit.ts";
import { readWidgetNames } from "../../widgets/widgets.ts";
import { makeReport, readSelection } from "../report/app-report.ts";
import { readComparison } from "../report/app-window.ts";
import { readTimes } from "../report/breakdown/breakdown.ts";
import { findShared } from "./link-queries.ts";
import { parseQuery } from "./saved-query.ts";

type SharedDeps = Pick<Deps, "db" | "clock"> & { config: Pick<Config, "rateLimitSignInPerMinute"> };

/** The report behind a link, for whoever has it. What it shows was decided when the link was made; retention and plan hold as for members. */
export function sharedReportRoutes(routes: HttpRoutes, deps: SharedDeps): void {
  const { db, clock } = deps;
  const limiter = limitByNetwork(deps.config.rateLimitSignInPerMinute);

  routes.add("readSharedReport", async ({ body: { token }, request: { ip } }) => {
    const verdict = limiter?.take(toClientNetwork(ip), clock.now());
    if (verdict?.isAllowed === false)
      throw rateLimited(verdict, "Too many requests from your network. Try again in a minute.");
    const shared = await findShared(db, token);
    if (!shared)
      throw new ApiError("not_found", "This report is no longer shared. Ask the person who sent you the link.");
    const { owner, organizationName, name, plan, timeZone } = shared;
    const query = parseQuery(shared.query);
    // Without a signal: that of a request with a body is aborted once the body has been read.
    const selection = await readSelection(deps, { organizationId: owner, plan, timeZone }, query);
    const [report, times] = await Promise.all([
      makeReport(deps, selection, readComparison(query, selection.window)),
      readTimes(db, selection),
    ]);
    const named = new Set([
      ...report.lists.widget.rows.map(({ key }) => key),
      ...[query["widget"] ?? []].flat(),
      ...[query["notWidget"] ?? []].flat(),
    ]);
    const names = await readWidgetNames(db, owner);
    const widgets = [...names].filter(([id]) => named.has(id)).map(([id, widgetName]) => ({ id, name: widgetName }));
    // Only the operator can do something about dropped events.
    return { organizationName, name, query: shared.query, report: { ...report, droppedEvents: 0 }, times, widgets };
  });
}
