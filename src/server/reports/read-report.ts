import { sql } from "kysely";
import type { AppAnalytics } from "#contract/app/analytics.ts";
import type { ReportPeriod } from "#contract/app/reports.ts";
import { DAY_MS } from "#contract/durations.ts";
import type { OrganizationId } from "#contract/ids.ts";
import { type Plan, planIncludes } from "#contract/plans.ts";
import { makeReport, readSelection } from "../analytics/analytics.ts";
import type { Deps } from "../deps.ts";
import { isTestVisit } from "../test-mode/test-mode.ts";
import { toDaysBefore, toPeriodDays } from "./due-periods.ts";
import { type FailingEndpoint, listFailingEndpoints, wasLive } from "./queries.ts";

export type Report = {
  period: ReportPeriod;
  analytics: AppAnalytics;
  failingEndpoints: readonly FailingEndpoint[];
};

/** What is emailed about a week or a month, without test data. Null if all widgets were in test mode. */
export async function readReport(
  deps: Pick<Deps, "db" | "clock">,
  reader: { organizationId: OrganizationId; plan: Plan; timeZone: string | null },
  { period, start }: { period: ReportPeriod; start: string },
): Promise<Report | null> {
  const { organizationId: owner } = reader;
  const { from, to } = toPeriodDays(period, start);
  const selection = await readSelection(deps, reader, { from, to });
  const visitCondition = sql`not ${isTestVisit(owner, { visit: "funnel_visits", now: selection.now })}`;
  const analytics = await makeReport(deps, { ...selection, visitCondition }, toDaysBefore(period, start));
  const { views, bookings } = analytics.totals;
  // Local days begin and end up to 14 hours away from UTC's.
  const margin = { from: new Date(Date.parse(from) - DAY_MS), to: new Date(Date.parse(to) + 2 * DAY_MS) };
  if (views + bookings === 0 && !(await wasLive(deps.db, owner, margin))) return null;
  const failingEndpoints = planIncludes(reader.plan, "webhooks") ? await listFailingEndpoints(deps.db, owner) : [];
  return { period, analytics, failingEndpoints };
}
