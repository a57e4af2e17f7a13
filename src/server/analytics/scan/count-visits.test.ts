import assert from "node:assert/strict";
import { test } from "node:test";
import { Kysely, PostgresDialect } from "kysely";
import { makeOrganization, makeWidget } from "../../../../test/support/builders.ts";
import { createTestDatabase } from "../../../../test/support/database.ts";
import { makeTouch } from "../../../../test/support/touches.ts";
import { openPool } from "../../db/pool.ts";
import type { Tables } from "../../db/tables.ts";
import { recordTouches } from "../../funnel/record/record.ts";
import { createLog } from "../../lib/log.ts";
import { readZoneRules } from "../../lib/zone-rules.ts";
import { countVisits } from "./count-visits.ts";

const { db, url } = await createTestDatabase();
const pool = openPool({ url, size: 4, log: createLog("silent") });

test("whoever waits for the same counts shares them, and who comes after the start gets new ones", async (t) => {
  t.after(() => pool.end());
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
