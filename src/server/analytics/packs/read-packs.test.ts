import assert from "node:assert/strict";
import { test } from "node:test";
import { sql } from "kysely";
import { DAY_MS } from "#contract/durations.ts";
import type { OrganizationId, WidgetId } from "#contract/ids.ts";
import { makeOrganization, makeWidget } from "../../../../test/support/builders.ts";
import { createTestDatabase } from "../../../../test/support/database/database.ts";
import { assertCounted, findReader, readAnalytics } from "../../../../test/support/funnel/analytics.ts";
import { makeHit, SEARCH_AD } from "../../../../test/support/funnel/hits.ts";
import { assertPacksValid, decodeTotals } from "../../../../test/support/funnel/packs.ts";
import { recordHits } from "../record/record.ts";
import { readReport } from "../report/app-report.ts";
import { updateProgress } from "./pack-queries.ts";
import { packVisits } from "./pack-visits.ts";
import { encodeTotals } from "./totals.ts";

// What reports read: totals where they may, which is seen by falsifying them; packs and visits elsewhere.

const { db } = await createTestDatabase();
const NOW = new Date("2026-11-10T12:00:00Z");

type Owned = { owner: OrganizationId; widgetId: WidgetId };

/** With one visit at noon of each of these days, packed. */
async function makePacked(days: readonly string[], { timeZone = "UTC" } = {}): Promise<Owned> {
  const owner = await makeOrganization(db, { timeZone });
  const widgetId = await makeWidget(db, owner);
  await recordHits(
    db,
    days.map((day, visit) => makeHit({ widgetId, visit, at: `${day}T12:00:00Z` })),
    { now: NOW },
  );
  await packVisits(db, owner, { now: NOW });
  return { owner, widgetId };
}

/** Adds a hundred views to totals behind our back. */
async function falsify(owner: OrganizationId, { days, start }: { days: number; start: string }): Promise<void> {
  const ofSpan = db
    .selectFrom("visit_totals")
    .select(["widget_id", "counts", "keys"])
    .where("organization_id", "=", owner)
    .where("days", "=", days)
    .where("start", "=", start);
  const rows = await ofSpan.execute();
  assert.ok(rows.length > 0);
  for (const { widget_id, ...bytes } of rows) {
    const totals = decodeTotals(bytes);
    totals.reached[0] = (totals.reached[0] ?? 0) + 100;
    await db
      .updateTable("visit_totals")
      .set(encodeTotals(totals))
      .where("organization_id", "=", owner)
      .where("widget_id", "=", widget_id)
      .where("days", "=", days)
      .where("start", "=", start)
      .execute();
  }
}

/** Views without a filter, of the widget, and with a filter, of the days up to 10 November. */
async function countViews({ owner, widgetId }: Owned, days: number): Promise<number[]> {
  const views: number[] = [];
  for (const query of [{}, { widget: widgetId }, { device: "mobile" }]) {
    const reader = await findReader(db, owner);
    const { totals } = await readReport({ db, clock: { now: () => NOW } }, reader, { ...query, days: String(days) });
    views.push(totals.views);
  }
  return views;
}

test("totals of a day answer without filters, for all widgets and for one, until the day is outdated", async () => {
  const owned = await makePacked(["2026-11-03", "2026-11-04"]);
  await falsify(owned.owner, { days: 1, start: "2026-11-03" });
  assert.deepEqual(await countViews(owned, 30), [102, 102, 2]);
  await recordHits(db, [makeHit({ widgetId: owned.widgetId, visit: 9, at: "2026-11-03T01:00:00Z" })]);
  assert.deepEqual(await countViews(owned, 30), [3, 3, 3]);
  await packVisits(db, owned.owner, { now: NOW });
  assert.deepEqual(await countViews(owned, 30), [3, 3, 3]);
});

test("totals of 30 days answer if all their days count, until one of them is outdated", async () => {
  const owned = await makePacked(["2026-10-05", "2026-10-10", "2026-11-02", "2026-11-05"]);
  const [first, span] = [38, { days: 30, start: "2026-10-04" }];
  await falsify(owned.owner, span);
  assert.deepEqual(await countViews(owned, first), [104, 104, 4], "4 October is the first day");
  assert.deepEqual(await countViews(owned, first - 1), [4, 4, 4], "5 October is the first day");
  await falsify(owned.owner, { days: 1, start: "2026-10-10" });
  assert.deepEqual(await countViews(owned, first), [104, 104, 4]);
  assert.deepEqual(await countViews(owned, first - 1), [104, 104, 4]);

  await recordHits(db, [makeHit({ widgetId: owned.widgetId, visit: 9, at: "2026-10-20T01:00:00Z" })]);
  assert.deepEqual(
    await countViews(owned, first),
    [105, 105, 5],
    "a day without visits before; other days by their totals",
  );
  await recordHits(db, [makeHit({ widgetId: owned.widgetId, visit: 10, at: "2026-10-10T01:00:00Z" })]);
  assert.deepEqual(await countViews(owned, first), [6, 6, 6]);
  await packVisits(db, owned.owner, { now: NOW });
  assert.deepEqual(await countViews(owned, first), [6, 6, 6]);
  await assertPacksValid(db, owned.owner);
  await falsify(owned.owner, span);
  assert.deepEqual(await countViews(owned, first), [106, 106, 6], "added up again");
});

test("a span is added up when it is over as a whole, and not before", async () => {
  const { owner, widgetId } = await makePacked(["2026-10-05", "2026-11-09"]);
  const listSpans = async () =>
    (
      await sql<{ start: string }>`
      select distinct start from visit_totals where organization_id = ${owner} and days = 30 order by start`.execute(db)
    ).rows;
  assert.deepEqual(await listSpans(), [{ start: "2026-10-04" }]);
  await recordHits(db, [makeHit({ widgetId, visit: 9, at: "2026-12-03T01:00:00Z" })]);
  await packVisits(db, owner, { now: new Date("2026-12-03T03:00:00Z") });
  assert.deepEqual(await listSpans(), [{ start: "2026-10-04" }, { start: "2026-11-03" }]);
});

test("a window that cuts days at its edges counts those by their packs", async () => {
  const owner = await makeOrganization(db, { timeZone: "Asia/Kathmandu" });
  const widgetId = await makeWidget(db, owner);
  const instants = [
    "2026-11-07T18:14:59.999Z",
    "2026-11-07T18:15:00Z",
    "2026-11-08T12:00:00Z",
    "2026-11-09T18:14:59.999Z",
  ];
  const hits = [...instants, "2026-11-09T18:15:00Z"].map((at, visit) => makeHit({ widgetId, visit, at }));
  await recordHits(db, hits);
  await packVisits(db, owner, { now: NOW });
  const windows = [1, 2, 3, 4].flatMap((days) =>
    ["09", "10"].map((day) => ({ days, now: new Date(`2026-11-${day}T12:00:00Z`) })),
  );
  const widgets = [widgetId];
  await assertCounted(db, owner, { hits, zone: "Asia/Kathmandu", widgets, windows, when: "packed" });
  // 8 and 9 November in Nepal have all of 8 November in UTC, and parts of its neighbours.
  const both = { days: 2, now: new Date("2026-11-09T12:00:00Z") };
  for (const day of ["2026-11-07", "2026-11-09"]) await falsify(owner, { days: 1, start: day });
  await assertCounted(db, owner, { hits, zone: "Asia/Kathmandu", widgets, windows: [both], when: "cut" });
  await falsify(owner, { days: 1, start: "2026-11-08" });
  assert.equal((await readAnalytics(db, owner, both)).totals.views, 103);
});

test("bookings after midnight UTC count on their day, and the view on the day before", async () => {
  const owner = await makeOrganization(db);
  const widgetId = await makeWidget(db, owner);
  const visit = { widgetId, visit: 1, class: SEARCH_AD };
  const hits = [
    makeHit({ ...visit, at: "2026-11-03T23:50:00Z" }),
    makeHit({ ...visit, at: "2026-11-04T00:10:00Z", step: "booking_completed", startAt: "2026-11-09T09:00:00Z" }),
    makeHit({ ...visit, at: "2026-11-06T00:10:00Z", step: "booking_failed", booking: "b" }),
    makeHit({ widgetId, visit: 2, at: "2026-11-04T08:00:00Z" }),
  ];
  await recordHits(db, hits);
  const windows = [3, 4, 5, 6, 7].flatMap((day) =>
    [1, 2, 3].map((days) => ({ days, now: new Date(Date.UTC(2026, 10, day, 12)) })),
  );
  const expected = { hits, zone: "UTC", widgets: [widgetId], windows };
  await assertCounted(db, owner, { ...expected, when: "recorded" });
  await packVisits(db, owner, { now: NOW });
  await assertCounted(db, owner, { ...expected, when: "packed" });
  const only = async (day: number) => {
    const { totals } = await readAnalytics(db, owner, { days: 1, now: new Date(Date.UTC(2026, 10, day, 12)) });
    return [totals.views, totals.bookings, totals.failed];
  };
  assert.deepEqual(
    [await only(3), await only(4), await only(5), await only(6)],
    [
      ...[
        [1, 0, 0],
        [1, 1, 0],
        [0, 0, 0],
        [0, 0, 1],
      ],
    ],
  );
});

test("each of many widgets has its own totals, and one without visits has none", async () => {
  const owner = await makeOrganization(db);
  const widgets: WidgetId[] = [];
  for (let i = 0; i < 40; i++) widgets.push(await makeWidget(db, owner));
  const hits = widgets
    .slice(1)
    .flatMap((widgetId, i) =>
      Array.from({ length: (i % 3) + 1 }, (_, n) =>
        makeHit({ widgetId, visit: i * 10 + n, at: new Date(Date.UTC(2026, 9, 4 + ((i * 7 + n) % 35), i % 24)) }),
      ),
    );
  await recordHits(db, hits);
  await packVisits(db, owner, { now: NOW });
  await assertPacksValid(db, owner);
  const windows = [20, 45].map((days) => ({ days, now: NOW }));
  await assertCounted(db, owner, { hits, zone: "UTC", widgets, windows, when: "packed" });
});

test("years before 1970 have totals of days and spans too", async () => {
  const days = Array.from({ length: 70 }, (_, i) =>
    new Date(Date.UTC(1965, 5, 1) + i * DAY_MS).toISOString().slice(0, 10),
  );
  const { owner, widgetId } = await makePacked(days);
  await updateProgress(db, owner, { kept_since: new Date("1900-01-01T00:00:00Z") });
  await assertPacksValid(db, owner);
  const read = async (daysShown: number) => {
    const window = {
      days: daysShown,
      now: new Date("1965-08-09T12:00:00Z"),
      keptSince: new Date("1900-01-01T00:00:00Z"),
    };
    const [all, one] = [
      await readAnalytics(db, owner, window),
      await readAnalytics(db, owner, { ...window, widgetId }),
    ];
    assert.deepEqual(one, all);
    return [all.totals.views, all.daily.filter(({ views }) => views === 1).length];
  };
  assert.deepEqual(
    [await read(70), await read(33)],
    [
      [70, 70],
      [33, 33],
    ],
  );
  const { rows } = await sql<{ start: string }>`
    select start from visit_totals where organization_id = ${owner} and widget_id = '' and days = 30 order by start`.execute(
    db,
  );
  const [span] = rows.filter(({ start }) => start >= "1965-06-01");
  assert.ok(span && (Date.parse(span.start) / DAY_MS) % 30 === 0);
  await falsify(owner, { days: 30, start: span.start });
  await falsify(owner, { days: 1, start: "1965-08-09" });
  assert.equal((await read(70))[0], 270);
  assert.equal((await read(1))[0], 101);
});
