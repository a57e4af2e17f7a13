import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { sql } from "kysely";
import { DAY_MS } from "#contract/durations.ts";
import type { OrganizationId, WidgetId } from "#contract/ids.ts";
import { makeOrganization, makeWidget } from "../../../../test/support/builders.ts";
import { countBlocked, untilSomeoneWaits } from "../../../../test/support/database/count-blocked.ts";
import { createTestDatabase } from "../../../../test/support/database/database.ts";
import { findReader } from "../../../../test/support/funnel/analytics.ts";
import { makeHit, visitId } from "../../../../test/support/funnel/hits.ts";
import { packWithPause } from "../../../../test/support/funnel/packing.ts";
import { assertPacksValid, describePacks, listPackedDays } from "../../../../test/support/funnel/packs.ts";
import { createLog } from "../../lib/log/log.ts";
import { deleteOrganization } from "../../organizations/delete-organization.ts";
import { deleteExpiredVisits, forgetVisits } from "../delete-visits.ts";
import { recordHits } from "../record/record.ts";
import { makeReport, readSelection } from "../report/app-report.ts";
import { packOutdated, packVisits, rebuildPacks } from "./pack-visits.ts";
import { PACK_VISITS_MAX } from "./visit-pack.ts";

const { db, pool } = await createTestDatabase();
// Hours before 11 are over and have rested.
const NOW = new Date("2026-11-10T12:00:00Z");

type Owned = { owner: OrganizationId; widgetId: WidgetId };

async function makeOwned(): Promise<Owned> {
  const owner = await makeOrganization(db);
  return { owner, widgetId: await makeWidget(db, owner) };
}

/** One visit at noon of each of these days of November 2026, packed. */
async function makePacked(...days: readonly number[]): Promise<Owned> {
  const owned = await makeOwned();
  if (days.length > 0)
    await recordHits(
      db,
      days.map((day) => view(owned.widgetId, day)),
    );
  await packVisits(db, owned.owner, { now: NOW });
  return owned;
}

function view(widgetId: WidgetId, day: number, visit = day) {
  return makeHit({ widgetId, visit, at: `2026-11-${String(day).padStart(2, "0")}T12:00:00Z` });
}

/** At this time on 10 November, which is not over. */
function viewToday(widgetId: WidgetId, time: string, visit: number) {
  return makeHit({ widgetId, visit, at: `2026-11-10T${time}:00Z` });
}

/** Views of the last 30 days, which must be the same from totals and packs, and from packs alone because of a filter. */
async function countViews(owner: OrganizationId): Promise<number> {
  const [all, ofPhones] = [await countBy(owner, {}), await countBy(owner, { device: "mobile" })];
  assert.equal(all, ofPhones);
  return all;
}

async function countBy(owner: OrganizationId, query: Record<string, string>): Promise<number> {
  const reading = { db, clock: { now: () => NOW } };
  const reader = await findReader(db, owner);
  const selection = await readSelection(reading, reader, { ...query, days: "30" });
  return (await makeReport(reading, selection, null)).totals.views;
}

/** Visits that start evenly within these hours of 4 November, straight into their table. */
async function insertVisits(
  { owner, widgetId }: Owned,
  { hours, count }: { hours: [from: number, until: number]; count: number },
): Promise<void> {
  const [from, until] = hours;
  await sql`
    insert into funnel_visits (organization_id, widget_id, visit_id, started_at, channel, source, campaign, page, device, country)
    select ${owner}, ${widgetId}, gen_random_uuid(),
      timestamptz '2026-11-04T00:00:00Z' + (${from} + n * ${(until - from) / count}::float8) * interval '1 hour',
      n % 700, n % 300, 3, 4, 5, 6
    from generate_series(0, ${count - 1}::integer) n`.execute(db);
}

/** Each part with its hours, and something that changes whenever it is written. */
async function listParts(owner: OrganizationId): Promise<{ hours: number; visits: number; written: string }[]> {
  const { rows } = await sql<{ hours: number; visits: number; written: string }>`
    select hours, visits, xmin::text || part as written from visit_packs where organization_id = ${owner} order by part`.execute(
    db,
  );
  return rows;
}

describe("packing", () => {
  test("packs hours 15 minutes after their end; the others are counted from their visits", async () => {
    const { owner, widgetId } = await makeOwned();
    await recordHits(
      db,
      ["08:30", "09:30", "11:30"].map((time, visit) => viewToday(widgetId, time, visit)),
    );
    const log = createLog("silent");
    const run = (now: string) =>
      packOutdated({ db, log, clock: { now: () => new Date(now) } }, new AbortController().signal);
    for (const [now, packed] of [
      ["2026-11-10T10:14:59.999Z", "2026-11-10: 1 in 9 hours"],
      ["2026-11-10T10:15:00.000Z", "2026-11-10: 2 in 10 hours"],
      ["2026-11-10T23:00:00.000Z", "2026-11-10: 3 in 22 hours"],
    ] as const) {
      await run(now);
      assert.deepEqual(await describePacks(db, owner), [packed]);
      assert.equal(await countViews(owner), 3);
      await assertPacksValid(db, owner);
    }
    assert.ok((await listParts(owner)).length > 2);
    await recordHits(db, [viewToday(widgetId, "23:30", 4)]);
    await run("2026-11-11T00:14:59.999Z");
    assert.deepEqual(await describePacks(db, owner), ["2026-11-10: 3 in 22 hours"]);
    await run("2026-11-11T00:15:00.000Z");
    assert.deepEqual(await describePacks(db, owner), ["2026-11-10: 4"]);
    assert.equal((await listParts(owner)).length, 1, "a small day ends as one part");
    await assertPacksValid(db, owner);
  });

  test("covers years with few visits, and what an import brings before them", async () => {
    const { owner, widgetId } = await makeOwned();
    const at = (year: number) => makeHit({ widgetId, visit: year, at: `${year}-02-28T12:00:00Z` });
    await recordHits(db, [at(2021), at(2026)], { now: NOW });
    await packVisits(db, owner, { now: NOW });
    await recordHits(db, [at(1931)], { now: NOW });
    assert.deepEqual(await describePacks(db, owner), ["1931-02-28: outdated", "2021-02-28: 1", "2026-02-28: 1"]);
    await packVisits(db, owner, { now: NOW });
    assert.deepEqual(await describePacks(db, owner), ["1931-02-28: 1", "2021-02-28: 1", "2026-02-28: 1"]);
    await assertPacksValid(db, owner);
  });

  test("an organization that fails is logged and does not hold up the others; a stopping worker starts none", async () => {
    const owners = [await makeOrganization(db), await makeOrganization(db)].sort() as [OrganizationId, OrganizationId];
    for (const owner of owners) await recordHits(db, [view(await makeWidget(db, owner), 3)]);
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
    assert.deepEqual(await describePacks(db, broken), ["2026-11-03: 0 in 0 hours"]);
    assert.deepEqual(await describePacks(db, sound), ["2026-11-03: 1"]);
    await sql`update funnel_visits set bookings = null where organization_id = ${broken}`.execute(db);
    await run(new AbortController().signal);
    assert.deepEqual(await describePacks(db, broken), ["2026-11-03: 1"]);
  });

  test("a long day has several parts, and loses those it no longer needs", async () => {
    const owned = await makeOwned();
    const { owner, widgetId } = owned;
    const count = 2 * PACK_VISITS_MAX + 5;
    await insertVisits(owned, { hours: [0, 0.5], count });
    assert.equal(await packVisits(db, owner, { now: NOW }), count);
    assert.equal(
      (await listParts(owner)).length,
      4,
      "three of one hour, and one without visits for the rest of the day",
    );
    assert.deepEqual(await describePacks(db, owner), [`2026-11-04: ${count}`]);
    await assertPacksValid(db, owner);

    await forgetVisits(db, owner, { widgetId, where: sql`visit.source >= 100` });
    assert.deepEqual(await describePacks(db, owner), ["2026-11-04: outdated"]);
    await packVisits(db, owner, { now: NOW });
    assert.equal((await listParts(owner)).length, 2);
    await assertPacksValid(db, owner);
  });

  test("all visits of one millisecond are counted, however many, before and after they are packed", async () => {
    const owned = await makeOwned();
    const count = PACK_VISITS_MAX + 5;
    await insertVisits(owned, { hours: [3, 3], count });
    await insertVisits(owned, { hours: [4, 5], count: 3 });
    const now = new Date(NOW.getTime() - 30 * DAY_MS);
    assert.equal(await packVisits(db, owned.owner, { now }), 0);
    assert.equal(await countBy(owned.owner, {}), count + 3);
    assert.equal(await packVisits(db, owned.owner, { now: NOW }), count + 3);
    assert.equal(await countBy(owned.owner, { notDevice: "tablet" }), count + 3);
    await assertPacksValid(db, owned.owner);
  });

  test("an outdated hour of a long day leaves the other parts as they are, and its hours alone are read again", async () => {
    const owned = await makeOwned();
    const { owner, widgetId } = owned;
    await insertVisits(owned, { hours: [2, 8], count: 5 * PACK_VISITS_MAX });
    await packVisits(db, owner, { now: NOW });
    const before = await listParts(owner);
    assert.ok(before.length > 5);
    const late = makeHit({ widgetId, visit: 1, at: "2026-11-04T03:20:00Z" });
    await recordHits(db, [late]);
    const isValid = ({ hours }: { hours: number }) => (hours & (1 << 3)) === 0;
    assert.ok(before.filter(isValid).length > 3);
    await assertPacksValid(db, owner);
    assert.equal(await countBy(owner, {}), 5 * PACK_VISITS_MAX + 1);
    assert.equal(await countBy(owner, { notDevice: "tablet" }), 5 * PACK_VISITS_MAX + 1);

    const packed = await packVisits(db, owner, { now: NOW });
    assert.ok(packed < 2 * PACK_VISITS_MAX, `${packed} visits are packed again`);
    await assertPacksValid(db, owner);
    const after = await listParts(owner);
    for (const part of before.filter(isValid)) assert.ok(after.some(({ written }) => written === part.written));
    assert.equal(await countBy(owner, {}), 5 * PACK_VISITS_MAX + 1);
    assert.equal(await countBy(owner, { notDevice: "tablet" }), 5 * PACK_VISITS_MAX + 1);
  });

  test("several processes at once give the packs that one gives", async () => {
    const { owner, widgetId } = await makeOwned();
    await recordHits(
      db,
      [2, 3, 4, 5, 6].map((day) => view(widgetId, day)),
    );
    const runs = Array.from({ length: 3 }, () => packVisits(db, owner, { now: NOW }));
    const packed = await Promise.all(runs);
    assert.equal(
      packed.reduce((sum, visits) => sum + visits),
      5,
      "each day is packed once",
    );
    await assertPacksValid(db, owner);
    assert.equal(await countViews(owner), 5);
  });

  test("packing everything again after visits were repaired by hand", async () => {
    const { owner } = await makePacked(3, 4);
    // Behind Bookflow's back, so that nothing is outdated by itself.
    await sql`delete from funnel_visits where organization_id = ${owner} and visit_id = ${visitId(3)}`.execute(db);
    assert.equal(await countViews(owner), 2);
    assert.equal(await rebuildPacks(db, owner, { now: NOW }), 1);
    assert.deepEqual(await describePacks(db, owner), ["2026-11-04: 1"]);
    assert.equal(await countViews(owner), 1);
    await sql`update funnel_visits set device = device + 1 where organization_id = ${owner}`.execute(db);
    await rebuildPacks(db, owner, { now: NOW });
    assert.equal(
      await countBy(owner, { device: "mobile" }),
      0,
      "a pack made again is not confused with the one in memory",
    );
  });

  test("a rebuild that is stopped leaves reports as they are", async () => {
    const { owner } = await makePacked(3, 4, 5);
    await rebuildPacks(db, owner, { now: NOW, signal: AbortSignal.abort() });
    assert.deepEqual(await describePacks(db, owner), []);
    assert.equal(await countViews(owner), 3);
    const stopping = new AbortController();
    await rebuildPacks(db, owner, { now: NOW, signal: stopping.signal, progress: () => stopping.abort() });
    assert.deepEqual(await describePacks(db, owner), [
      ...["2026-11-03: 0 in 0 hours", "2026-11-04: 0 in 0 hours", "2026-11-05: 1"],
    ]);
    assert.equal(await countViews(owner), 3);
  });

  test("totals of 30 days that are added up during a rebuild don't outlive it", async () => {
    const { owner, widgetId } = await makeOwned();
    await recordHits(db, [
      makeHit({ widgetId, visit: 1, at: "2026-10-20T12:00:00Z" }),
      makeHit({ widgetId, visit: 2, at: "2026-10-21T12:00:00Z" }),
    ]);
    await packVisits(db, owner, { now: NOW });
    await sql`delete from visit_totals where organization_id = ${owner} and days = 30`.execute(db);
    await sql`delete from funnel_visits where organization_id = ${owner} and visit_id = ${visitId(2)}`.execute(db);
    // Whoever adds up the span waits for this row.
    const other = await db.startTransaction().execute();
    await sql`insert into visit_totals values (${owner}, '', 30, '2026-10-04', '', '')`.execute(other);
    const adding = packVisits(db, owner, { now: NOW });
    await untilSomeoneWaits(db);
    const rebuilding = rebuildPacks(db, owner, { now: NOW });
    while ((await countBlocked(db)) < 2);
    await other.rollback().execute();
    await Promise.all([adding, rebuilding]);
    await assertPacksValid(db, owner);
    assert.equal(await countBy(owner, {}), 1);
  });
});

describe("whatever changes a visit outdates the packs of its hours in the same transaction", () => {
  test("a late event; without that, the report would be wrong", async () => {
    const { owner, widgetId } = await makePacked(3, 4);
    const [stale] = await db.selectFrom("visit_packs").select("data").where("organization_id", "=", owner).execute();
    await recordHits(db, [view(widgetId, 3, 33)]);
    assert.deepEqual(await describePacks(db, owner), ["2026-11-03: outdated", "2026-11-04: 1"]);
    assert.equal(await countViews(owner), 3);
    await packVisits(db, owner, { now: NOW });
    assert.deepEqual(await describePacks(db, owner), ["2026-11-03: 2", "2026-11-04: 1"]);
    assert.equal(await countViews(owner), 3);

    await sql`update visit_packs set data = ${stale?.data} where organization_id = ${owner} and day = '2026-11-03'`.execute(
      db,
    );
    assert.equal(await countBy(owner, { device: "mobile" }), 2, "reports with filters come from packs");
  });

  test("an event that moves a visit to an earlier day, and one on a day without visits", async () => {
    const { owner, widgetId } = await makePacked(3, 4);
    await recordHits(db, [view(widgetId, 2, 4), view(widgetId, 1)]);
    const outdated = ["2026-11-01: outdated", "2026-11-02: outdated", "2026-11-04: outdated"];
    assert.deepEqual((await describePacks(db, owner)).sort(), [...outdated, "2026-11-03: 1"].sort());
    assert.equal(await countViews(owner), 3);
    await packVisits(db, owner, { now: NOW });
    assert.deepEqual(await describePacks(db, owner), [
      ...["2026-11-01: 1", "2026-11-02: 1", "2026-11-03: 1", "2026-11-04: 0"],
    ]);
    assert.equal(await countViews(owner), 3);
  });

  test("an event that moves a visit from an hour that is not covered yet into a packed one", async () => {
    const { owner, widgetId } = await makePacked(3);
    await recordHits(db, [viewToday(widgetId, "11:30", 1), viewToday(widgetId, "11:40", 2)]);
    assert.deepEqual(await describePacks(db, owner), ["2026-11-03: 1"], "the hour is not over");
    await recordHits(db, [view(widgetId, 3, 1)]);
    assert.deepEqual(await describePacks(db, owner), ["2026-11-03: outdated"]);
    assert.equal(await countViews(owner), 3);
    await packVisits(db, owner, { now: NOW });
    assert.deepEqual(await describePacks(db, owner), ["2026-11-03: 2"]);
    assert.equal(await countViews(owner), 3);
  });

  test("a booking that is sent again with a later instant, after which its visit ends later", async () => {
    const { owner, widgetId } = await makePacked();
    const book = (at: string) => recordHits(db, [makeHit({ widgetId, visit: 3, at, step: "booking_completed" })]);
    await book("2026-11-03T12:00:00Z");
    await packVisits(db, owner, { now: NOW });
    await book("2026-11-05T12:00:00Z");
    await assertPacksValid(db, owner);
    assert.deepEqual(await describePacks(db, owner), ["2026-11-03: outdated"]);
  });

  test("an event that adds nothing, and one of the open hour, outdate nothing", async () => {
    const { owner, widgetId } = await makePacked(3, 9);
    await recordHits(db, [view(widgetId, 3), view(widgetId, 10)]);
    assert.deepEqual(await describePacks(db, owner), ["2026-11-03: 1", "2026-11-09: 1"]);
    assert.equal(await countViews(owner), 3);
  });

  test("an event of a packed hour of today, alone", async () => {
    const { owner, widgetId } = await makeOwned();
    await recordHits(db, [viewToday(widgetId, "02:30", 1), viewToday(widgetId, "08:30", 2)]);
    await packVisits(db, owner, { now: new Date("2026-11-10T06:15:00Z") });
    await packVisits(db, owner, { now: NOW });
    const [early, late] = await listParts(owner);
    await recordHits(db, [viewToday(widgetId, "08:40", 3)]);
    const [day] = await listPackedDays(db, owner);
    assert.equal(day?.outdated, 1 << 8);
    assert.equal(await countViews(owner), 3);
    assert.equal(await packVisits(db, owner, { now: NOW }), 2);
    const packed = await listParts(owner);
    assert.deepEqual(packed[0], early);
    assert.notEqual(packed[1]?.written, late?.written);
    assert.equal(await countViews(owner), 3);
    await assertPacksValid(db, owner);
  });

  test("an event that is rolled back leaves the pack as it was", async () => {
    const { owner, widgetId } = await makePacked(3);
    const recording = await db.startTransaction().execute();
    await recordHits(recording, [view(widgetId, 3, 33)]);
    assert.equal(await countViews(owner), 1);
    await recording.rollback().execute();
    assert.deepEqual(await describePacks(db, owner), ["2026-11-03: 1"]);
  });

  test("retention also removes packs of days before the oldest visit", async () => {
    const { owner, widgetId } = await makePacked(3, 4, 5);
    // Started on an expired day and booked on a kept one, so it is kept.
    await recordHits(db, [
      view(widgetId, 4, 44),
      makeHit({ widgetId, visit: 44, at: "2026-11-06T12:00:00Z", step: "booking_completed" }),
    ]);
    await packVisits(db, owner, { now: NOW });
    const keptSince = new Date("2026-11-06T00:00:00Z");
    assert.equal(await deleteExpiredVisits(db, owner, { keptSince, limit: 500 }), 2);
    assert.deepEqual(await describePacks(db, owner), ["2026-11-04: outdated", "2026-11-05: 1"]);
    await packVisits(db, owner, { now: NOW });
    assert.deepEqual(await describePacks(db, owner), ["2026-11-04: 1", "2026-11-05: 1"]);
    assert.equal(await countViews(owner), 1);
  });

  test("deleting visits that were made in test mode", async () => {
    const { owner, widgetId } = await makePacked(3, 4);
    await forgetVisits(db, owner, { widgetId, where: sql`visit.visit_id = ${visitId(3)}` });
    assert.deepEqual(await describePacks(db, owner), ["2026-11-03: outdated", "2026-11-04: 1"]);
    assert.equal(await countViews(owner), 1);
  });

  test("deleting the organization, also while its visits are packed", async () => {
    const { owner, widgetId } = await makePacked(3, 4);
    await recordHits(db, [view(widgetId, 5)]);
    const packing = packVisits(db, owner, { now: NOW }).catch(() => {});
    await db.transaction().execute((transaction) => deleteOrganization(transaction, owner));
    await packing;
    for (const table of ["visit_progress", "visit_days", "visit_packs", "visit_totals", "funnel_visits"] as const)
      assert.deepEqual(
        (await sql`select from ${sql.table(table)} where organization_id = ${owner}`.execute(db)).rows,
        [],
      );
  });
});

describe("what is recorded while visits are packed is never lost", () => {
  test("a recording before the bits are cleared", async () => {
    const { owner, widgetId } = await makePacked(3);
    await recordHits(db, [view(widgetId, 3, 31)]);
    // Not committed yet, so clearing waits for it.
    const recording = await db.startTransaction().execute();
    await recordHits(recording, [view(widgetId, 3, 32)]);
    const packing = packVisits(db, owner, { now: NOW });
    await untilSomeoneWaits(db);
    await recording.commit().execute();
    await packing;
    await assertPacksValid(db, owner);
    assert.equal(await countViews(owner), 3);
  });

  test("another hour that becomes outdated while the bits are cleared", async () => {
    const { owner, widgetId } = await makeOwned();
    await recordHits(db, [viewToday(widgetId, "02:30", 1), viewToday(widgetId, "08:30", 2)]);
    await packVisits(db, owner, { now: new Date("2026-11-10T06:15:00Z") });
    await packVisits(db, owner, { now: NOW });
    assert.equal((await listParts(owner)).length, 2);
    await recordHits(db, [viewToday(widgetId, "02:40", 3)]);
    const recording = await db.startTransaction().execute();
    await recordHits(recording, [viewToday(widgetId, "08:40", 4)]);
    const packing = packVisits(db, owner, { now: NOW });
    await untilSomeoneWaits(db);
    await recording.commit().execute();
    await packing;
    await assertPacksValid(db, owner);
    assert.equal(await countViews(owner), 4);
  });

  test("a recording between clearing and reading", async () => {
    const { owner, widgetId } = await makePacked(3);
    await recordHits(db, [view(widgetId, 3, 31)]);
    let visit = 31;
    const onCleared = async () => {
      if (visit === 31) await recordHits(db, [view(widgetId, 3, ++visit)]);
    };
    await packWithPause(pool, owner, { now: NOW, onCleared });
    assert.deepEqual(await describePacks(db, owner), ["2026-11-03: 3"], "the second try succeeds");
    await assertPacksValid(db, owner);
    assert.equal(await countViews(owner), 3);
  });

  test("a recording that is not committed before the hour is read, and then before it is saved", async () => {
    const { owner, widgetId } = await makePacked(3);
    await recordHits(db, [view(widgetId, 3, 31)]);
    const recording = await db.startTransaction().execute();
    let isRecorded = false;
    const onCleared = async () => {
      if (!isRecorded) await recordHits(recording, [view(widgetId, 3, 32)]);
      isRecorded = true;
    };
    const packing = packWithPause(pool, owner, { now: NOW, onCleared });
    await untilSomeoneWaits(db);
    assert.equal(await countViews(owner), 2);
    await recording.commit().execute();
    await packing;
    assert.deepEqual(await describePacks(db, owner), ["2026-11-03: 3"]);
    await assertPacksValid(db, owner);
  });

  test("an hour that changes again at each try stays outdated until the next run", async () => {
    const { owner, widgetId } = await makePacked(3);
    await recordHits(db, [view(widgetId, 3, 31)]);
    let visit = 31;
    const onCleared = async () => {
      await recordHits(db, [view(widgetId, 3, ++visit)]);
    };
    await packWithPause(pool, owner, { now: NOW, onCleared });
    assert.deepEqual(await describePacks(db, owner), ["2026-11-03: outdated"]);
    assert.ok(visit > 32);
    assert.equal(await countViews(owner), visit - 29);
    await packVisits(db, owner, { now: NOW });
    assert.deepEqual(await describePacks(db, owner), [`2026-11-03: ${visit - 29}`]);
  });

  test("a recording that began before its day was covered is part of the pack", async () => {
    const { owner, widgetId } = await makePacked(3);
    const later = new Date(NOW.getTime() + 3 * DAY_MS);
    await recordHits(db, [view(widgetId, 11)]);
    const recording = await db.startTransaction().execute();
    await recordHits(recording, [view(widgetId, 11, 12)]);
    const packing = packVisits(db, owner, { now: later });
    await untilSomeoneWaits(db);
    await recording.commit().execute();
    await packing;
    await assertPacksValid(db, owner);
    const [, day] = await listPackedDays(db, owner);
    assert.deepEqual([day?.day, day?.outdated, day?.parts[0]?.visits], ["2026-11-11", 0, 2]);
  });
});
