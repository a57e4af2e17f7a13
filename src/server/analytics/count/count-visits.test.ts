import assert from "node:assert/strict";
import { after, test } from "node:test";
import { Kysely, PostgresDialect } from "kysely";
import { makeOrganization, makeWidget } from "../../../../test/support/builders.ts";
import { createTestDatabase } from "../../../../test/support/database/database.ts";
import { makeHit } from "../../../../test/support/funnel/hits.ts";
import { openPool } from "../../db/connections/pool.ts";
import type { Tables } from "../../db/tables/tables.ts";
import { createLog } from "../../lib/log/log.ts";
import { readZoneRules } from "../../lib/time/zone-rules.ts";
import { packVisits } from "../packs/pack-visits.ts";
import { PACK_VISITS_MAX } from "../packs/visit-pack.ts";
import { recordHits } from "../record/record.ts";
import type { Filter } from "../report/filters.ts";
import { countVisits } from "./count-visits.ts";

const { db, url } = await createTestDatabase();
const pool = openPool({ url, size: 4, log: createLog("silent") });
after(() => pool.end());

/** Counts of one organization through a database that tells when a count begins. */
async function makeCounting({ onStart = () => {}, onStatement = () => {} } = {}) {
  const owner = await makeOrganization(db);
  const widgetId = await makeWidget(db, owner);
  const watched = new Kysely<Tables>({
    dialect: new PostgresDialect({ pool }),
    log: ({ query }) => {
      onStatement();
      if (query.sql.includes("kept_since")) onStart();
    },
  });
  const scan = { owner, rules: readZoneRules("UTC"), oldestDay: "2026-10-01" };
  const count = async (from: string, filters: readonly Filter[] = []) => {
    const { reached } = await countVisits(watched, { ...scan, days: { from, to: "2026-11-01" }, filters });
    return reached[0];
  };
  return { owner, widgetId, count };
}

const FILTERS = [{ dimension: "device", isNegated: true, keys: ["tablet"] }] as const;

test("whoever waits for the same filters shares the count, and who comes after the start gets a new one", async () => {
  let scans = 0;
  let onStart = () => {};
  const { widgetId, count } = await makeCounting({
    onStart: () => {
      scans += 1;
      onStart();
    },
  });
  await recordHits(db, [makeHit({ widgetId, visit: 1, at: "2026-11-01T10:00:00Z" })]);
  const countFiltered = (from: string) => count(from, FILTERS);

  assert.deepEqual(
    await Promise.all(Array.from({ length: 20 }, () => countFiltered("2026-11-01"))),
    new Array(20).fill(1),
  );
  assert.equal(scans, 1);
  await Promise.all([countFiltered("2026-11-01"), countFiltered("2026-10-31"), countFiltered("2026-10-31")]);
  assert.equal(scans, 3, "other days are counted separately");
  await Promise.all([count("2026-11-01"), count("2026-11-01")]);
  assert.equal(scans, 5, "without filters, nobody waits");

  const hasStarted = new Promise<void>((resolve) => {
    onStart = resolve;
  });
  const first = countFiltered("2026-11-01");
  await hasStarted;
  await recordHits(db, [makeHit({ widgetId, visit: 2, at: "2026-11-01T11:00:00Z" })]);
  assert.equal(await countFiltered("2026-11-01"), 2, "what was recorded before a request is in its response");
  assert.ok([1, 2].includes((await first) ?? 0));
});

for (const filters of [[], FILTERS])
  test(`packs that are made again during a report ${filters.length > 0 ? "with filters " : ""}don't change it`, async () => {
    let change: Promise<unknown> | undefined;
    const { owner, widgetId, count } = await makeCounting({
      // The report's snapshot exists.
      onStart: () => {
        change ??= packAgain();
      },
    });
    const view = (visit: number) => makeHit({ widgetId, visit, at: "2026-10-20T10:00:00Z" });
    const now = new Date("2026-11-05T12:00:00Z");
    const packAgain = async () => {
      await recordHits(db, [view(4)]);
      await packVisits(db, owner, { now });
    };
    await recordHits(db, [1, 2, 3].map(view));
    await packVisits(db, owner, { now });
    assert.ok([3, 4].includes((await count("2026-10-10", filters)) ?? 0));
    await change;
    assert.equal(await count("2026-10-10", filters), 4);
  });

test("without filters, one statement reads everything, unless packed visits have changed or very many are new", async () => {
  let statements = 0;
  const { owner, widgetId, count } = await makeCounting({
    onStatement: () => {
      statements += 1;
    },
  });
  const view = (visit: number, day = 20) => makeHit({ widgetId, visit, at: `2026-10-${day}T11:00:00Z` });
  const now = new Date("2026-10-25T12:00:00Z");
  const assertCount = async (visits: number, expectedStatements: number) => {
    statements = 0;
    assert.equal(await count("2026-10-10"), visits);
    assert.equal(statements, expectedStatements);
  };
  await recordHits(
    db,
    [1, 2, 3].map((visit) => view(visit)),
    { now },
  );
  await assertCount(3, 1);
  await packVisits(db, owner, { now });
  await assertCount(3, 1);
  await recordHits(db, [view(4, 25)], { now });
  await assertCount(4, 1);
  await recordHits(db, [view(5)], { now });
  // In a snapshot: its start and end, the same statement, and the visits of the hours without a pack.
  await assertCount(5, 1 + 4);
  await packVisits(db, owner, { now });
  await assertCount(5, 1);
  const many = Array.from({ length: PACK_VISITS_MAX }, (_, i) => view(10 + i, 26));
  await recordHits(db, many, { now: new Date("2026-10-26T12:00:00Z") });
  await assertCount(5 + PACK_VISITS_MAX, 1 + 4);
});
