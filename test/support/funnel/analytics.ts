import assert from "node:assert/strict";
import type { Analytics } from "#contract/analytics/analytics.ts";
import type { OrganizationId, WidgetId } from "#contract/ids.ts";
import type { Plan } from "#contract/plans.ts";
import type { Hit } from "../../../src/server/analytics/record/hit.ts";
import * as analytics from "../../../src/server/analytics/report/app-report.ts";
import { type Reader, readSelection } from "../../../src/server/analytics/report/app-report.ts";
import { lastDays } from "../../../src/server/analytics/report/app-window.ts";
import type { Db } from "../../../src/server/db/connections/pool.ts";
import { countByHand } from "./count-by-hand.ts";

export type Window = { days: number; now: Date; widgetId?: WidgetId | null; keptSince?: Date };

const LONG_AGO = new Date("1970-01-01T00:00:00Z");

/** The response of /api/v1/analytics, for any `now` and without a plan's retention unless one is given. */
export async function readAnalytics(db: Db, owner: OrganizationId, window: Window): Promise<Analytics> {
  const { days, now, widgetId = null, keptSince = LONG_AGO } = window;
  const reader = await findReader(db, owner);
  const query = widgetId === null ? {} : { widget: widgetId };
  const asked = await readSelection({ db, clock: { now: () => now } }, reader, query, (_, { today }) =>
    lastDays(today, days),
  );
  return await analytics.readAnalytics(db, { ...asked, keptSince });
}

/** Who asks for a report, in the organization's present time zone. */
export async function findReader(db: Db, owner: OrganizationId, plan: Plan = "business"): Promise<Reader> {
  const organization = db.selectFrom("organizations").select("time_zone").where("id", "=", owner);
  const { time_zone } = await organization.executeTakeFirstOrThrow();
  return { organizationId: owner, plan, timeZone: time_zone };
}

/** Requests each window, for all widgets and for each one, and expects the result of counting the hits by hand. */
export async function assertCounted(
  db: Db,
  owner: OrganizationId,
  expected: {
    hits: readonly Hit[];
    zone: string;
    widgets: readonly WidgetId[];
    windows: readonly Omit<Window, "widgetId">[];
    when: string;
  },
): Promise<void> {
  for (const window of expected.windows) {
    for (const widgetId of [null, ...expected.widgets]) {
      const asked = { ...window, widgetId };
      const response = await readAnalytics(db, owner, asked);
      const byHand = countByHand(expected.hits, { ...asked, zone: expected.zone });
      assert.deepEqual(response, byHand, `${expected.when}, ${window.days} days`);
    }
  }
}
