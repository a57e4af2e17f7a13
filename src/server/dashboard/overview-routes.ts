import { DAY_MS, HOUR_MS } from "#contract/durations.ts";
import type { HttpRoutes } from "../accounts/accounts.ts";
import { toKindNumber } from "../analytics/analytics.ts";
import { readerOf, selectInOrder, toBookingSummary } from "../bookings/bookings.ts";
import type { Deps } from "../deps.ts";
import { toKeptSince } from "../organizations/organizations.ts";
import { countNow, dismissChecklist, hasTestVisits, readChecklist } from "./overview-queries.ts";

const UPCOMING_SHOWN = 5;

export function overviewAppRoutes(routes: HttpRoutes, deps: Pick<Deps, "db" | "clock" | "config">): void {
  routes.add("getOverview", async ({ member }) => {
    const { organizationId: owner, plan } = member;
    const now = deps.clock.now();
    const { baseUrl } = deps.config;
    const upcoming = await selectInOrder(deps.db, owner, {
      createdFrom: toKeptSince(plan, now),
      createdBefore: null,
      widgetId: null,
      startFrom: now,
      status: "not cancelled",
      startBefore: null,
      sort: "soonest",
      after: null,
      limit: UPCOMING_SHOWN,
    });
    const reader = await readerOf(deps.db, member);
    return {
      ...(await readChecklist(deps.db, owner, { baseUrl, pageKind: toKindNumber("page"), userId: member.userId })),
      upcoming: upcoming.map((row) => toBookingSummary(row, reader)),
      now: await countNow(deps.db, owner, {
        visitsSince: new Date(now.getTime() - HOUR_MS),
        bookingsSince: new Date(now.getTime() - DAY_MS),
      }),
      includesTests: await hasTestVisits(deps.db, owner, { since: new Date(now.getTime() - 7 * DAY_MS), now }),
    };
  });

  routes.add("dismissChecklist", async ({ member: { organizationId, userId } }) => {
    await dismissChecklist(deps.db, organizationId, { userId, at: deps.clock.now() });
    return null;
  });
}
