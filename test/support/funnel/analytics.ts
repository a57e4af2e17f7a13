import assert from "node:assert/strict";
import { sql } from "kysely";
import type { Analytics } from "#contract/analytics.ts";
import type { OrganizationId, WidgetId } from "#contract/ids.ts";
import * as analytics from "../../../src/server/analytics/read-analytics.ts";
import type { Db } from "../../../src/server/db/pool.ts";
import type { Touch } from "../../../src/server/funnel/record/touch.ts";
import { countByHand } from "./count-by-hand.ts";

export type Window = { days: number; now: Date; widgetId?: WidgetId | null; keptSince?: Date };

const LONG_AGO = new Date("1970-01-01T00:00:00Z");

/** The response of /api/v1/analytics, for any `now` and without a plan's retention unless one is given. */
export async function readAnalytics(db: Db, owner: OrganizationId, window: Window): Promise<Analytics> {
  const { days, now, widgetId = null, keptSince = LONG_AGO } = window;
  return await analytics.readAnalytics(db, owner, { days, now, widgetId, keptSince });
}

/** Requests each window, for all widgets and for each one, and expects the result of counting the touches by hand. */
export async function assertCounted(
  db: Db,
  owner: OrganizationId,
  expected: {
    touches: readonly Touch[];
    zone: string;
    widgets: readonly WidgetId[];
    windows: readonly Omit<Window, "widgetId">[];
    when: string;
  },
): Promise<void> {
  for (const window of expected.windows) {
    for (const widgetId of [null, ...expected.widgets]) {
      const asked = { ...window, widgetId };
      const answer = await readAnalytics(db, owner, asked);
      const byHand = countByHand(expected.touches, { ...asked, zone: expected.zone });
      assert.deepEqual(answer, byHand, `${expected.when}, ${window.days} days`);
    }
  }
}

const COUNTERS = [
  {
    table: "funnel_days",
    order: "widget_id, day",
    isEmpty:
      "(reached_1, reached_2, reached_3, reached_4, reached_5, reached_6, no_availability, bookings, failed, lead_ms, " +
      "lead_count) = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)",
  },
  { table: "funnel_key_days", order: "widget_id, day, kind, key", isEmpty: "(views, bookings) = (0, 0)" },
  {
    table: "funnel_key_spans",
    order: "widget_id, span_days, start_day, kind, key",
    isEmpty: "(views, bookings) = (0, 0)",
  },
];

/** Every non-zero counter in the active set, in a fixed order. */
export async function readCounters(db: Db, owner: OrganizationId): Promise<unknown[]> {
  const { version } = await db
    .selectFrom("day_zones")
    .select("version")
    .where("organization_id", "=", owner)
    .executeTakeFirstOrThrow();
  const rows: unknown[] = [];
  for (const { table, order, isEmpty } of COUNTERS) {
    const found = await sql<Record<string, unknown>>`
      select * from ${sql.table(table)} where organization_id = ${owner} and version = ${version} and not (${sql.raw(isEmpty)})
      order by ${sql.raw(order)}`.execute(db);
    rows.push(...found.rows.map(({ version: _, ...row }) => ({ table, ...row })));
  }
  return rows;
}
