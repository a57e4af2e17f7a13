import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { sql } from "kysely";
import { DAY_MS, HOUR_MS } from "#contract/durations.ts";
import type { OrganizationId, WidgetId } from "#contract/ids.ts";
import type { Plan } from "#contract/plans.ts";
import { makeBooking, makeOrganization, makeWidget } from "../../../test/support/builders.ts";
import { createTestDatabase } from "../../../test/support/database/database.ts";
import { assertCounted, readAnalytics } from "../../../test/support/funnel/analytics.ts";
import { countByHand } from "../../../test/support/funnel/count-by-hand.ts";
import { makeHit, SEARCH_AD, visitId } from "../../../test/support/funnel/hits.ts";
import { assertPacksValid } from "../../../test/support/funnel/packs.ts";
import { sampleHits } from "../../../test/support/funnel/random-hits.ts";
import type { Db } from "../db/connections/pool.ts";
import { createLog } from "../lib/log/log.ts";
import { createMetrics } from "../lib/log/metrics.ts";
import { systemRandom } from "../lib/secrets/random.ts";
import { sweepExpired } from "../operations/retention.ts";
import { toKeptSince } from "../organizations/plan.ts";
import { updateOrganization } from "../organizations/queries.ts";
import { importEvents } from "./import/import-events.ts";
import { packVisits, rebuildPacks } from "./packs/pack-visits.ts";
import type { Hit } from "./record/hit.ts";
import { toKindNumber } from "./record/key-id.ts";
import { recordHits } from "./record/record.ts";

const NOW = new Date("2026-11-01T12:00:00.000Z");

async function setUp(options: { plan: Plan; timeZone?: string }) {
  const { db } = await createTestDatabase();
  const owner = await makeOrganization(db, options);
  const widgets = [await makeWidget(db, owner), await makeWidget(db, owner)] as [WidgetId, WidgetId];
  const metrics = createMetrics();
  const sweep = async (now = NOW) => {
    const { bookings, visits, keys } = await sweepExpired({
      db,
      metrics,
      log: createLog("silent"),
      clock: { now: () => now },
      random: systemRandom,
    });
    return { bookings, visits, keys };
  };
  return { db, owner, widgets, widgetId: widgets[0], metrics, sweep };
}

/** The visits, with all their hits, that have a first step or booking since the kept days start in any zone. */
function keepVisits(hits: readonly Hit[], keptSince: Date): Hit[] {
  const since = new Date(keptSince.getTime() - 26 * HOUR_MS);
  const visits = Map.groupBy(hits, ({ widgetId, visitId }) => `${widgetId} ${visitId}`);
  const isRepeat = (hit: Hit, visit: readonly Hit[]) =>
    hit.conversion === null && visit.some(({ at, steps }) => at < hit.at && (steps & hit.steps) === hit.steps);
  return [...visits.values()].filter((visit) => visit.some((hit) => !isRepeat(hit, visit) && hit.at >= since)).flat();
}

async function countRows(db: Db, table: string, owner: OrganizationId): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from ${sql.table(table)} where organization_id = ${owner}`.execute(db);
  return rows[0]?.count ?? 0;
}

describe("after the sweep the numbers match a count by hand of what is left", { concurrency: 3 }, () => {
  const cases: [plan: Plan, zone: string, from: string][] = [
    ["free", "Pacific/Auckland", "2026-09-25T00:00:00Z"],
    ["pro", "Asia/Kathmandu", "2025-10-20T00:00:00Z"],
    ["business", "America/New_York", "2024-10-20T00:00:00Z"],
  ];
  for (const [index, [plan, zone, from]] of cases.entries()) {
    test(`${plan} in ${zone}`, async () => {
      const { db, owner, widgets, sweep } = await setUp({ plan, timeZone: zone });
      const keptSince = toKeptSince(plan, NOW);
      // Up to three weeks around the oldest kept day, so that many visits lie on both sides of it.
      const to = new Date(keptSince.getTime() + 14 * DAY_MS);
      const hits = sampleHits({ widgets, from: new Date(from), to }, { visits: 400, seed: index });
      for (let start = 0; start < hits.length; start += 300) await recordHits(db, hits.slice(start, start + 300));
      await packVisits(db, owner, { now: NOW });

      const left = keepVisits(hits, keptSince);
      const countVisits = (some: readonly Hit[]) => new Set(some.map(({ visitId }) => visitId)).size;
      const deleted = await sweep();
      assert.equal(deleted.visits, countVisits(hits) - countVisits(left));
      assert.ok(deleted.visits > 50 && countVisits(left) > 50, JSON.stringify(deleted));
      assert.equal(await countRows(db, "funnel_visits", owner), countVisits(left));

      const windows = [40, 380, 730].map((days) => ({ days, now: NOW, keptSince }));
      const expected = { hits: left, zone, widgets, windows };
      await assertCounted(db, owner, { ...expected, when: "swept" });
      await assertPacksValid(db, owner);

      await packVisits(db, owner, { now: NOW });
      await assertPacksValid(db, owner);
      await assertCounted(db, owner, { ...expected, when: "packed" });
      await rebuildPacks(db, owner, { now: NOW });
      await assertCounted(db, owner, { ...expected, when: "packed again" });
      assert.deepEqual((await sweep()).visits, 0);
      await assertCounted(db, owner, { ...expected, when: "swept again" });

      // Visits that ended 26 hours before the kept days are still there, for other zones. Some zones have another whole day since.
      const firstWhole = Temporal.Instant.fromEpochMilliseconds(keptSince.getTime() - 26 * HOUR_MS - 1)
        .toZonedDateTimeISO(zone)
        .add({ days: 1 });
      const shownSince = new Date(firstWhole.epochMilliseconds);
      for (const { days } of windows) {
        const longer = await readAnalytics(db, owner, { days, now: NOW });
        const byHand = countByHand(left, { zone, now: NOW, days, keptSince: shownSince, widgetId: null });
        assert.deepEqual(longer, byHand, `a longer plan shows whole days, ${days} days`);
      }
    });
  }
});

test("a visit across the edge stays, with its booking on a kept day, until that day is deleted too", async () => {
  const { db, owner, widgetId, sweep } = await setUp({ plan: "free" });
  const visit = { widgetId, visit: 1, class: SEARCH_AD };
  await recordHits(db, [
    makeHit({ ...visit, at: "2026-10-01T23:55:00Z" }),
    makeHit({ ...visit, at: "2026-10-02T00:05:00Z", step: "booking_completed" }),
  ]);
  const read = async (now: Date) => {
    const keptSince = toKeptSince("free", now);
    const { totals, daily, channels } = await readAnalytics(db, owner, { days: 40, now, keptSince });
    return { views: totals.views, days: daily.filter((entry) => entry.views + entry.bookings > 0), channels };
  };
  // At noon on 1 November the days since 2 October are kept.
  const edge = {
    views: 0,
    days: [{ day: "2026-10-02", views: 0, bookings: 1 }],
    channels: [{ key: "Paid Search", views: 0, bookings: 1, conversionRate: 0 }],
  };
  assert.deepEqual(await read(NOW), edge);
  await packVisits(db, owner, { now: NOW });
  assert.equal((await sweep()).visits, 0);
  assert.deepEqual(await read(NOW), edge);

  const nextDay = new Date("2026-11-02T00:00:00.000Z");
  assert.deepEqual(await read(nextDay), { views: 0, days: [], channels: [] });
  assert.equal((await sweep(nextDay)).visits, 0);
  // Only then has the day expired in every time zone.
  const end = new Date("2026-11-01T00:05:00.000Z").getTime() + 26 * HOUR_MS;
  assert.equal((await sweep(new Date(end))).visits, 0);
  assert.equal((await sweep(new Date(end + 1))).visits, 1);
  for (const table of ["funnel_visits", "visit_days", "visit_packs", "visit_totals"])
    assert.equal(await countRows(db, table, owner), 0, table);
});

test("a longer plan afterwards shows lists and totals that agree, though a span of 30 days is half deleted", async () => {
  const { db, owner, widgetId, sweep } = await setUp({ plan: "free" });
  const later = new Date("2026-11-15T12:00:00.000Z");
  const hits = Array.from({ length: 31 }, (_, index) =>
    makeHit({ widgetId, visit: index, at: new Date(Date.UTC(2026, 9, 1 + index, 10)) }),
  );
  await recordHits(db, hits);
  await packVisits(db, owner, { now: later });
  // 26 hours before the kept period, it was 10:00 on 15 October.
  assert.equal((await sweep(later)).visits, 14);
  await updateOrganization(db, owner, { plan: "business" });
  for (const packs of [false, true]) {
    if (packs) await packVisits(db, owner, { now: later });
    const { totals, channels } = await readAnalytics(db, owner, { days: 730, now: later });
    assert.deepEqual([totals.views, channels.map(({ views }) => views)], [16, [16]]);
  }
});

test("an import of older visits shows none of those that retention deleted, though their days are gone", async () => {
  const { db, owner, widgetId, sweep } = await setUp({ plan: "business" });
  // A span of 30 days starts on 4 October 2026. The visit of 5 October is deleted, and the next one is of 20 October.
  await recordHits(db, [
    makeHit({ widgetId, visit: 1, at: "2026-10-05T12:00:00Z" }),
    makeHit({ widgetId, visit: 2, at: "2026-10-20T12:00:00Z" }),
  ]);
  const now = new Date("2026-11-10T12:00:00Z");
  await packVisits(db, owner, { now });
  await updateOrganization(db, owner, { plan: "free" });
  assert.equal((await sweep(now)).visits, 1);
  await updateOrganization(db, owner, { plan: "business" });
  const old = { widgetId, visitId: visitId(3), step: "widget_viewed", at: "2026-09-01T12:00:00Z" };
  const imported = await importEvents(db, owner, {
    read: async function* () {
      yield [{ text: JSON.stringify(old) }];
    },
    now,
    progress: () => {},
  });
  assert.deepEqual(imported, { kind: "imported", imported: 1, skipped: 0 });
  for (const packs of [false, true]) {
    if (packs) await packVisits(db, owner, { now });
    await assertPacksValid(db, owner);
    const { totals, daily } = await readAnalytics(db, owner, { days: 120, now });
    assert.deepEqual([totals.views, daily.filter(({ views }) => views > 0).length], [2, 2]);
  }
});

test("sweeping and packing at the same time ends with the same numbers as a count by hand", async () => {
  const { db, owner, widgets, sweep } = await setUp({ plan: "free", timeZone: "Pacific/Kiritimati" });
  const hits = sampleHits(
    { widgets, from: new Date("2026-09-20T00:00:00Z"), to: new Date("2026-10-12T00:00:00Z") },
    { visits: 1500, seed: 9 },
  );
  for (let start = 0; start < hits.length; start += 500) await recordHits(db, hits.slice(start, start + 500));
  // Where the oldest kept day starts ten hours earlier.
  await updateOrganization(db, owner, { time_zone: "UTC" });

  await packVisits(db, owner, { now: NOW });
  const [, swept] = await Promise.all([
    rebuildPacks(db, owner, { now: NOW }),
    sweep(),
    packVisits(db, owner, { now: NOW }),
  ]);
  assert.ok(swept.visits > 500);
  const { rows } = await sql<{ visit_id: string }>`select visit_id from funnel_visits`.execute(db);
  const left = new Set(rows.map((row) => row.visit_id));
  const keptSince = toKeptSince("free", NOW);
  const expected = {
    hits: hits.filter((hit) => left.has(hit.visitId)),
    zone: "UTC",
    widgets,
    windows: [25, 40].map((days) => ({ days, now: NOW, keptSince })),
  };
  await assertPacksValid(db, owner);
  await assertCounted(db, owner, { ...expected, when: "at the same time" });
  await packVisits(db, owner, { now: NOW });
  await assertPacksValid(db, owner);
  await assertCounted(db, owner, { ...expected, when: "packed again" });
});

describe("after a change of time zone, the oldest shown day is complete", () => {
  const cases: [from: string, to: string, now: string][] = [
    ["UTC", "Pacific/Kiritimati", "2026-11-01T01:00:00Z"],
    ["Europe/Berlin", "Asia/Tokyo", "2026-11-01T03:00:00Z"],
    ["Pacific/Kiritimati", "UTC", "2026-11-01T12:00:00Z"],
    ["Asia/Tokyo", "America/Los_Angeles", "2026-11-01T23:30:00Z"],
  ];
  for (const [from, to, time] of cases) {
    test(`${from} to ${to}`, async () => {
      const { db, owner, widgetId, sweep } = await setUp({ plan: "free", timeZone: from });
      const now = new Date(time);
      const keptSince = toKeptSince("free", now);
      const oldest = Temporal.Instant.fromEpochMilliseconds(keptSince.getTime()).toZonedDateTimeISO(to).toPlainDate();
      const start = oldest.toZonedDateTime(to).epochMilliseconds;
      const hours = Array.from({ length: 24 }, (_, hour) => new Date(start + hour * HOUR_MS));
      await recordHits(
        db,
        [new Date(start - 3 * DAY_MS), ...hours].map((at, visit) => makeHit({ widgetId, visit, at })),
      );
      assert.equal((await sweep(now)).visits, 1);
      await updateOrganization(db, owner, { time_zone: to });
      assert.equal((await sweep(now)).visits, 0);
      const { daily } = await readAnalytics(db, owner, { days: 40, now, keptSince });
      assert.deepEqual(
        daily.filter(({ views }) => views > 0),
        [{ day: oldest.toString(), views: 24, bookings: 0 }],
      );
    });
  }
});

test("the sweep and the metrics report how many of each kind were deleted", async () => {
  const { db, owner, widgetId, metrics, sweep } = await setUp({ plan: "pro" });
  await makeBooking(db, owner, { widgetId, now: new Date("2025-10-01T00:00:00Z") });
  await recordHits(db, [
    makeHit({ widgetId, visit: 1, at: "2025-10-31T23:59:59.999Z" }),
    makeHit({ widgetId, visit: 2, at: "2025-10-31T00:00:00.000Z" }),
    makeHit({ widgetId, visit: 3, at: "2025-11-01T00:00:00.000Z" }),
  ]);
  // Nothing has used its six keys since, but marks of use may be a few days late.
  const later = new Date(NOW.getTime() + 4 * DAY_MS);
  assert.deepEqual(await sweep(), { bookings: 1, visits: 1, keys: 0 });
  assert.deepEqual(await sweep(later), { bookings: 0, visits: 2, keys: 6 });
  const { values } = await metrics.expiredRows.get();
  assert.deepEqual(
    values.filter(({ value }) => value > 0).map(({ labels, value }) => [labels.kind, value]),
    [
      ["booking", 1],
      ["visit", 3],
      ["key", 6],
    ],
  );
});

test("an upgrade before the sweep keeps everything", async () => {
  const { db, owner, widgetId, sweep } = await setUp({ plan: "free" });
  await recordHits(db, [makeHit({ widgetId, visit: 1, at: "2026-01-01T00:00:00Z" })]);
  await updateOrganization(db, owner, { plan: "pro" });
  assert.deepEqual(await sweep(), { bookings: 0, visits: 0, keys: 0 });
});

test("texts are deleted once unused for as long as visits are kept; those in use stay", async () => {
  const { db, owner, widgetId, sweep } = await setUp({ plan: "free" });
  const late = new Date("2026-12-10T12:00:00Z");
  const hit = (visit: number, at: string, campaign: string, step?: "booking_completed") =>
    makeHit({ widgetId, visit, at, class: { ...SEARCH_AD, campaign }, ...(step && { step }) });
  await recordHits(db, [hit(1, "2026-11-01T10:00:00Z", "old")]);
  await recordHits(db, [hit(2, "2026-12-01T10:00:00Z", "new")]);
  // A visit that books after its first texts would have expired.
  await recordHits(db, [hit(4, "2026-11-01T10:00:00Z", "returned")]);
  await recordHits(db, [hit(4, "2026-12-02T10:00:00Z", "later", "booking_completed")]);
  // Importing old visits marks their texts as used now.
  await recordHits(db, [hit(3, "2026-10-20T10:00:00Z", "imported")], { includePaused: true, now: late });
  await sweep(late);
  const { rows } = await sql<{ key: string }>`
    select key from funnel_keys where organization_id = ${owner} and kind = ${toKindNumber("campaign")} order by key`.execute(
    db,
  );
  assert.deepEqual(
    rows.map(({ key }) => key),
    ["imported", "new", "returned"],
  );
});
