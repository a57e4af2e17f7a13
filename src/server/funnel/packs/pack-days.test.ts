import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { sql } from "kysely";
import { DAY_MS } from "#contract/durations.ts";
import type { OrganizationId, WidgetId } from "#contract/ids.ts";
import { makeOrganization, makeWidget } from "../../../../test/support/builders.ts";
import { untilSomeoneWaits } from "../../../../test/support/database/count-blocked.ts";
import { createTestDatabase } from "../../../../test/support/database/database.ts";
import { assertPacksValid, describePacks, listPackRows } from "../../../../test/support/funnel/packs.ts";
import { makeTouch, visitId } from "../../../../test/support/funnel/touches.ts";
import { answerQuestion, readQuestion } from "../../analytics/app-report.ts";
import { createLog } from "../../lib/log/log.ts";
import { deleteOrganization } from "../../organizations/delete-queries.ts";
import { recordTouches } from "../record/record.ts";
import { forgetVisits } from "../recount/forget-visits.ts";
import { rebuildStats } from "../recount/rebuild.ts";
import { deleteExpiredVisits } from "../recount/retention.ts";
import { packDays, packOutdated, repackAll } from "./pack-days.ts";
import { encodePack } from "./pack-format.ts";
import { NO_VISITS, PACK_VISITS_MAX, toPack } from "./visit-pack.ts";

const { db } = await createTestDatabase();
const NOW = new Date("2026-11-10T12:00:00Z");

type Owned = { owner: OrganizationId; widgetId: WidgetId };

/** One visit at noon of each of these days of November 2026, packed. */
async function makePacked(...days: readonly number[]): Promise<Owned> {
  const owner = await makeOrganization(db);
  const widgetId = await makeWidget(db, owner);
  if (days.length > 0)
    await recordTouches(
      db,
      days.map((day) => view(widgetId, day)),
    );
  await packDays(db, owner, { now: NOW });
  return { owner, widgetId };
}

function view(widgetId: WidgetId, day: number, visit = day) {
  return makeTouch({ widgetId, visit, at: `2026-11-${String(day).padStart(2, "0")}T12:00:00Z` });
}

/** Views of phones in the last 30 days, which only packs or visits can tell. */
async function countViews(owner: OrganizationId): Promise<number> {
  const reading = { db, clock: { now: () => NOW } };
  const question = await readQuestion(
    reading,
    { organizationId: owner, plan: "business" },
    { device: "mobile", days: "30" },
  );
  return (await answerQuestion(reading, question, null)).totals.views;
}

describe("packing", () => {
  test("packs days an hour after their end; the others are counted from their visits", async () => {
    const owner = await makeOrganization(db);
    const widgetId = await makeWidget(db, owner);
    await recordTouches(
      db,
      [8, 9, 10].map((day) => view(widgetId, day)),
    );
    const log = createLog("silent");
    const run = (now: string) =>
      packOutdated({ db, log, clock: { now: () => new Date(now) } }, new AbortController().signal);
    await run("2026-11-10T00:59:59Z");
    assert.deepEqual(await describePacks(db, owner), ["2026-11-08: 1"]);
    assert.equal(await countViews(owner), 3);
    await run("2026-11-10T01:00:00Z");
    assert.deepEqual(await describePacks(db, owner), ["2026-11-08: 1", "2026-11-09: 1"]);
    assert.equal(await countViews(owner), 3);
  });

  test("covers years with few visits, and what an import brings before them", async () => {
    const owner = await makeOrganization(db);
    const widgetId = await makeWidget(db, owner);
    const at = (year: number) => makeTouch({ widgetId, visit: year, at: `${year}-02-28T12:00:00Z` });
    await recordTouches(db, [at(2021), at(2026)], { now: NOW });
    await packDays(db, owner, { now: NOW });
    await recordTouches(db, [at(1987)], { now: NOW });
    assert.deepEqual(await describePacks(db, owner), ["1987-02-28: outdated", "2021-02-28: 1", "2026-02-28: 1"]);
    await packDays(db, owner, { now: NOW });
    assert.deepEqual(await describePacks(db, owner), ["1987-02-28: 1", "2021-02-28: 1", "2026-02-28: 1"]);
  });

  test("an organization that fails is logged and does not hold up the others; a stopping worker starts none", async () => {
    const owners = [await makeOrganization(db), await makeOrganization(db)].sort() as [OrganizationId, OrganizationId];
    for (const owner of owners) await recordTouches(db, [view(await makeWidget(db, owner), 3)]);
    const [broken, sound] = owners;
    await sql`update funnel_visits set bookings = '{"a": null}' where organization_id = ${broken}`.execute(db);
    const lines: string[] = [];
    const log = createLog("info", { write: (line) => lines.push(line) });
    const run = (signal: AbortSignal) => packOutdated({ db, log, clock: { now: () => NOW } }, signal);
    await run(AbortSignal.abort());
    assert.deepEqual([...(await describePacks(db, broken)), ...(await describePacks(db, sound))], []);
    await run(new AbortController().signal);
    assert.deepEqual(
      lines.map((line) => JSON.parse(line)).map(({ name, organizationId }) => [name, organizationId]),
      [["stats.pack_failed", broken]],
    );
    assert.deepEqual(await describePacks(db, broken), ["2026-11-03: outdated"]);
    assert.deepEqual(await describePacks(db, sound), ["2026-11-03: 1"]);
    await sql`delete from visit_packs where organization_id = ${broken}`.execute(db);
  });

  test("a long day has several parts, and loses those it no longer needs", async () => {
    const { owner, widgetId } = await makePacked();
    const count = 2 * PACK_VISITS_MAX + 5;
    await sql`
      insert into funnel_visits (organization_id, widget_id, visit_id, started_at, channel, source, campaign, page, device, country)
      select ${owner}, ${widgetId}, ('00000000-0000-4000-8000-' || lpad(n::text, 12, '0'))::uuid,
        timestamptz '2026-11-04T00:00:00Z' + n / 3 * interval '1 millisecond', n % 700, n % 300, 3, 4, 5, 6
      from generate_series(1, ${count}::integer) n`.execute(db);
    await rebuildStats({ db, clock: { now: () => NOW } }, owner);
    await repackAll(db, owner);
    await packDays(db, owner, { now: NOW });
    assert.equal((await listPackRows(db, owner)).length, 3);
    assert.deepEqual(await describePacks(db, owner), [`2026-11-04: ${count}`]);
    await assertPacksValid(db, owner);

    await forgetVisits(db, owner, { widgetId, now: NOW, where: sql`visit.source >= 100` });
    assert.deepEqual(await describePacks(db, owner), ["2026-11-04: outdated"]);
    await packDays(db, owner, { now: NOW });
    assert.equal((await listPackRows(db, owner)).length, 1);
    await assertPacksValid(db, owner);
  });
});

describe("whatever changes a visit outdates the packs of its days in the same transaction", () => {
  test("a late event; without that, the report would be wrong", async () => {
    const { owner, widgetId } = await makePacked(3, 4);
    const [stale] = await listPackRows(db, owner);
    await recordTouches(db, [view(widgetId, 3, 33)]);
    assert.deepEqual(await describePacks(db, owner), ["2026-11-03: outdated", "2026-11-04: 1"]);
    assert.equal(await countViews(owner), 3);
    await packDays(db, owner, { now: NOW });
    assert.deepEqual(await describePacks(db, owner), ["2026-11-03: 2", "2026-11-04: 1"]);
    assert.equal(await countViews(owner), 3);

    await sql`update visit_packs set data = ${stale?.data} where organization_id = ${owner} and day = '2026-11-03'`.execute(
      db,
    );
    assert.equal(await countViews(owner), 2, "reports come from packs");
  });

  test("an event that moves a visit to an earlier day, and one on a day without visits", async () => {
    const { owner, widgetId } = await makePacked(3, 4);
    await recordTouches(db, [view(widgetId, 2, 4), view(widgetId, 1)]);
    const outdated = ["2026-11-01: outdated", "2026-11-02: outdated", "2026-11-04: outdated"];
    assert.deepEqual((await describePacks(db, owner)).sort(), [...outdated, "2026-11-03: 1"].sort());
    assert.equal(await countViews(owner), 3);
    await packDays(db, owner, { now: NOW });
    assert.deepEqual(await describePacks(db, owner), [
      ...["2026-11-01: 1", "2026-11-02: 1", "2026-11-03: 1", "2026-11-04: 0"],
    ]);
    assert.equal(await countViews(owner), 3);
  });

  test("a booking that is sent again with a later instant, after which its visit ends later", async () => {
    const { owner, widgetId } = await makePacked();
    const book = (at: string) => recordTouches(db, [makeTouch({ widgetId, visit: 3, at, step: "booking_completed" })]);
    await book("2026-11-03T12:00:00Z");
    await packDays(db, owner, { now: NOW });
    await book("2026-11-05T12:00:00Z");
    await assertPacksValid(db, owner);
    assert.deepEqual(await describePacks(db, owner), ["2026-11-03: outdated"]);
  });

  test("an event that adds nothing, and one of today, outdate nothing", async () => {
    const { owner, widgetId } = await makePacked(3, 9);
    await recordTouches(db, [view(widgetId, 3), view(widgetId, 10)]);
    assert.deepEqual(await describePacks(db, owner), ["2026-11-03: 1", "2026-11-09: 1"]);
    assert.equal(await countViews(owner), 3);
  });

  test("an event that is rolled back leaves the pack as it was", async () => {
    const { owner, widgetId } = await makePacked(3);
    const recording = await db.startTransaction().execute();
    await recordTouches(recording, [view(widgetId, 3, 33)]);
    assert.equal(await countViews(owner), 1);
    await recording.rollback().execute();
    assert.deepEqual(await describePacks(db, owner), ["2026-11-03: 1"]);
  });

  test("a day that changes while it is packed stays outdated", async () => {
    const { owner, widgetId } = await makePacked(3);
    await recordTouches(db, [view(widgetId, 3, 31)]);
    // Not committed yet, so packing doesn't see this visit and then waits for the row it counts up.
    const recording = await db.startTransaction().execute();
    await recordTouches(recording, [view(widgetId, 3, 32)]);
    const packing = packDays(db, owner, { now: NOW });
    await untilSomeoneWaits(db);
    await recording.commit().execute();
    await packing;
    assert.deepEqual(await describePacks(db, owner), ["2026-11-03: outdated"]);
    assert.equal(await countViews(owner), 3);
  });

  test("a recording that began before its day was covered is part of the pack", async () => {
    const { owner, widgetId } = await makePacked(3);
    const recording = await db.startTransaction().execute();
    await recordTouches(recording, [view(widgetId, 11)]);
    const packing = packDays(db, owner, { now: new Date(NOW.getTime() + 3 * DAY_MS) });
    await untilSomeoneWaits(db);
    await recording.commit().execute();
    await packing;
    assert.deepEqual(await describePacks(db, owner), ["2026-11-03: 1", "2026-11-11: 1"]);
  });

  test("retention also removes packs of days before the oldest visit", async () => {
    const { owner, widgetId } = await makePacked(3, 4, 5);
    // Started on an expired day and booked on a kept one, so it is kept.
    await recordTouches(db, [
      view(widgetId, 4, 44),
      makeTouch({ widgetId, visit: 44, at: "2026-11-06T12:00:00Z", step: "booking_completed" }),
    ]);
    await packDays(db, owner, { now: NOW });
    const keptSince = new Date("2026-11-05T00:00:00Z");
    assert.equal(await deleteExpiredVisits(db, owner, { keptSince, limit: 500 }), 2);
    assert.deepEqual(await describePacks(db, owner), ["2026-11-04: outdated", "2026-11-05: 1"]);
    await packDays(db, owner, { now: NOW });
    assert.deepEqual(await describePacks(db, owner), ["2026-11-04: 1", "2026-11-05: 1"]);
    assert.equal(await countViews(owner), 1);
  });

  test("deleting visits that were made in test mode", async () => {
    const { owner, widgetId } = await makePacked(3, 4);
    await forgetVisits(db, owner, { widgetId, now: NOW, where: sql`visit.visit_id = ${visitId(3)}` });
    assert.deepEqual(await describePacks(db, owner), ["2026-11-03: outdated", "2026-11-04: 1"]);
    assert.equal(await countViews(owner), 1);
  });

  test("packing everything anew; a change of zone leaves the packs", async () => {
    const { owner } = await makePacked(3, 4);
    // Behind Bookflow's back, so that nothing is outdated by itself.
    await sql`delete from funnel_visits where organization_id = ${owner} and visit_id = ${visitId(3)}`.execute(db);
    assert.equal(await countViews(owner), 2);
    await rebuildStats({ db, clock: { now: () => NOW } }, owner);
    assert.deepEqual(await describePacks(db, owner), ["2026-11-03: 1", "2026-11-04: 1"]);
    await repackAll(db, owner);
    assert.deepEqual(await describePacks(db, owner), []);
    assert.equal(await countViews(owner), 1);
    await packDays(db, owner, { now: NOW });
    assert.deepEqual(await describePacks(db, owner), ["2026-11-04: 1"]);
    assert.equal(await countViews(owner), 1);
    await sql`update funnel_visits set device = device + 1 where organization_id = ${owner}`.execute(db);
    await repackAll(db, owner);
    await packDays(db, owner, { now: NOW });
    assert.equal(await countViews(owner), 0, "a pack made again is not confused with the one in memory");
  });

  test("parts of an outdated day are not counted, also if its first part is the last of one list", async () => {
    const { owner } = await makePacked(4);
    const empty = encodePack(toPack(Date.parse("2026-11-03"), NO_VISITS));
    await sql`
      insert into visit_packs (organization_id, day, part, changes, last_at, data)
      select ${owner}, '2026-11-03'::date, part, 0, null, ${empty}::bytea from generate_series(0, 1998) as part
      union all
      select organization_id, day, 1, changes, last_at, data from visit_packs where organization_id = ${owner}`.execute(
      db,
    );
    assert.equal(await countViews(owner), 2, "the day's visit is in both of its parts now");
    await sql`update visit_packs set data = null where organization_id = ${owner} and day = '2026-11-04' and part = 0`.execute(
      db,
    );
    assert.equal(await countViews(owner), 1);
  });

  test("deleting the organization", async () => {
    const { owner } = await makePacked(3);
    await db.transaction().execute((transaction) => deleteOrganization(transaction, owner));
    assert.deepEqual(await describePacks(db, owner), []);
  });
});
