import assert from "node:assert/strict";
import { test } from "node:test";
import { sql } from "kysely";
import type { OrganizationId } from "#contract/ids.ts";
import { readAnalytics } from "../../../test/support/analytics.ts";
import { makeOrganization, makeWidget } from "../../../test/support/builders.ts";
import { createTestDatabase } from "../../../test/support/database.ts";
import { makeTouch } from "../../../test/support/touches.ts";
import { createLog } from "../lib/log.ts";
import { recordTouches } from "./record.ts";
import { sealOutdated } from "./seal-months.ts";

const { db } = await createTestDatabase();

async function runTask(now: string, signal = new AbortController().signal): Promise<string[]> {
  const lines: string[] = [];
  const log = createLog("info", { write: (line) => lines.push(line) });
  await sealOutdated({ db, log, clock: { now: () => new Date(now) } }, signal);
  return lines;
}

async function readSeals(...owners: OrganizationId[]): Promise<(string | undefined)[]> {
  const rows = await db.selectFrom("day_zones").select(["organization_id", "sealed_before"]).execute();
  return owners.map((owner) => rows.find((row) => row.organization_id === owner)?.sealed_before);
}

/** [month, views] of the sums of all widgets, by channel. */
async function readMonths(owner: OrganizationId): Promise<[string, number][]> {
  const { rows } = await sql<{ month: string; views: number }>`
    select month, views from funnel_key_months
    where organization_id = ${owner} and widget_id = '' and kind = 'channel' order by month`.execute(db);
  return rows.map(({ month, views }) => [month, views]);
}

test("a month is added up when it has been over for two days where the organization is", async () => {
  const utc = await makeOrganization(db, { timeZone: "UTC" });
  const auckland = await makeOrganization(db, { timeZone: "Pacific/Auckland" });
  const visits = [utc, auckland].map(async (owner) => {
    const widgetId = await makeWidget(db, owner);
    const days = ["2026-07-10", "2026-07-11", "2026-09-30", "2026-10-01", "2026-10-31"];
    const touches = days.map((day, visit) => makeTouch({ widgetId, visit, at: `${day}T06:00:00Z` }));
    await recordTouches(db, touches, "active");
  });
  await Promise.all(visits);

  await runTask("2026-11-02T12:00:00Z");
  assert.deepEqual(await readSeals(utc, auckland), ["2026-10-01", "2026-11-01"]);
  const untilSeptember = [
    ["2026-07-01", 2],
    ["2026-09-01", 1],
  ];
  assert.deepEqual(await readMonths(utc), untilSeptember);
  assert.deepEqual(await readMonths(auckland), [...untilSeptember, ["2026-10-01", 2]]);

  await runTask("2026-11-03T00:00:00Z");
  assert.deepEqual(await readSeals(utc, auckland), ["2026-11-01", "2026-11-01"]);
  assert.deepEqual(await readMonths(utc), [...untilSeptember, ["2026-10-01", 2]]);
});

test("what comes in after that is in the month and in the day, also for a month that had nothing", async () => {
  const owner = await makeOrganization(db, { timeZone: "UTC" });
  const widgetId = await makeWidget(db, owner);
  await recordTouches(db, [makeTouch({ widgetId, visit: 1, at: "2026-09-30T06:00:00Z" })], "active");
  await runTask("2026-11-05T00:00:00Z");
  await recordTouches(
    db,
    [
      makeTouch({ widgetId, visit: 2, at: "2026-09-01T06:00:00Z" }),
      makeTouch({ widgetId, visit: 3, at: "2026-08-31T06:00:00Z" }),
    ],
    "active",
  );
  assert.deepEqual(await readMonths(owner), [
    ["2026-08-01", 1],
    ["2026-09-01", 2],
  ]);
  await runTask("2026-12-05T00:00:00Z");
  const { totals, channels } = await readAnalytics(db, owner, { days: 300, now: new Date("2026-12-05T00:00:00Z") });
  assert.deepEqual([totals.views, channels.map(({ views }) => views)], [3, [3]]);
});

test("an organization that fails is logged and holds up no other; a stopping worker begins none", async () => {
  const owners = await Promise.all([1, 2].map(() => makeOrganization(db, { timeZone: "UTC" })));
  const [broken, sound] = owners.toSorted() as [OrganizationId, OrganizationId];
  await runTask("2027-03-05T00:00:00Z", AbortSignal.abort());
  assert.deepEqual(await readSeals(broken, sound), ["1970-01-01", "1970-01-01"]);

  for (const owner of owners) {
    const widgetId = await makeWidget(db, owner);
    await recordTouches(db, [makeTouch({ widgetId, visit: 1, at: "2026-09-30T06:00:00Z" })], "active");
  }
  // Too many views for one month.
  await sql`
    insert into funnel_key_days (organization_id, version, widget_id, day, kind, key, views, bookings)
    values (${broken}, 1, 'w_', '2026-09-01', 'channel', 'x', 2147483647, 0),
      (${broken}, 1, 'w_', '2026-09-02', 'channel', 'x', 1, 0)`.execute(db);
  const lines = await runTask("2027-03-05T00:00:00Z");
  assert.deepEqual(
    lines
      .map((line) => JSON.parse(line) as { name: string; organizationId: string })
      .map((line) => [line.name, line.organizationId]),
    [["stats.seal_failed", broken]],
  );
  assert.deepEqual(await readSeals(broken, sound), ["1970-01-01", "2027-03-01"]);
});
