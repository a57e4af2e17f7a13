import assert from "node:assert/strict";
import { after, test } from "node:test";
import { Kysely, PostgresDialect, sql } from "kysely";
import { makeOrganization, makeWidget } from "../../../../test/support/builders.ts";
import { createTestDatabase } from "../../../../test/support/database/database.ts";
import { makeTouch } from "../../../../test/support/funnel/touches.ts";
import { openPool } from "../../db/pool.ts";
import type { Tables } from "../../db/tables.ts";
import { packDays } from "../../funnel/packs/pack-days.ts";
import { recordTouches } from "../../funnel/record/record.ts";
import { createLog } from "../../lib/log/log.ts";
import { readZoneRules } from "../../lib/time/zone-rules.ts";
import { countVisits } from "./count-visits.ts";

const { db, url } = await createTestDatabase();
const pool = openPool({ url, size: 4, log: createLog("silent") });
after(() => pool.end());

test("whoever waits for the same counts shares them, and who comes after the start gets new ones", async () => {
  const owner = await makeOrganization(db);
  const widgetId = await makeWidget(db, owner);
  await recordTouches(db, [makeTouch({ widgetId, visit: 1, at: "2026-11-01T10:00:00Z" })]);
  let scans = 0;
  let onScan = () => {};
  const watched = new Kysely<Tables>({
    dialect: new PostgresDialect({ pool }),
    log: ({ query }) => {
      if (!query.sql.includes("kept_since")) return;
      scans += 1;
      onScan();
    },
  });
  const [rules, oldestDay] = [readZoneRules("UTC"), "2026-10-01"];
  const count = async (from: string) => {
    const days = { from, to: "2026-11-01" };
    const { reached } = await countVisits(watched, { owner, rules, days, oldestDay, filters: [] });
    return reached[0];
  };

  assert.deepEqual(await Promise.all(Array.from({ length: 20 }, () => count("2026-11-01"))), new Array(20).fill(1));
  assert.equal(scans, 1);
  await Promise.all([count("2026-11-01"), count("2026-10-31"), count("2026-10-31")]);
  assert.equal(scans, 3, "other days are counted separately");

  const hasStarted = new Promise<void>((resolve) => {
    onScan = resolve;
  });
  const first = count("2026-11-01");
  await hasStarted;
  await recordTouches(db, [makeTouch({ widgetId, visit: 2, at: "2026-11-01T11:00:00Z" })]);
  assert.equal(await count("2026-11-01"), 2, "what was recorded before a request is in its answer");
  assert.ok([1, 2].includes((await first) ?? 0));
});

test("a pack that changes while a report reads it is not counted", async () => {
  const owner = await makeOrganization(db);
  const widgetId = await makeWidget(db, owner);
  const touches = [1, 2, 3].map((visit) => makeTouch({ widgetId, visit, at: "2026-11-01T10:00:00Z" }));
  await recordTouches(db, touches);
  await packDays(db, owner, { now: new Date("2026-11-05T12:00:00Z") });
  let lists = 0;
  let change: Promise<unknown> = Promise.resolve();
  // The packs' bytes are read on a connection of their own, so after the change.
  const connect = async () => {
    await change;
    return await pool.connect();
  };
  const watched = new Kysely<Tables>({
    dialect: new PostgresDialect({ pool: { connect, end: () => pool.end(), options: pool.options } }),
    log: ({ query }) => {
      if (query.sql.includes("list_packs")) lists += 1;
      // The report's snapshot exists.
      if (query.sql.includes("kept_since") && lists === 0) change = outdate();
    },
  });
  const outdate = () =>
    sql`update visit_packs set data = null, changes = changes + 1 where organization_id = ${owner}`.execute(db);
  const scan = { owner, rules: readZoneRules("UTC"), oldestDay: "2026-10-01", filters: [] };
  const days = { from: "2026-11-01", to: "2026-11-05" };
  const { reached } = await countVisits(watched, { ...scan, days });
  await change;
  assert.equal(reached[0], 3);
  assert.equal(lists, 2);
});
