import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { DAY_MS } from "#contract/durations.ts";
import type { OrganizationId, WidgetId } from "#contract/ids.ts";
import type { Plan } from "#contract/plans.ts";
import { makeOrganization, makeWidget } from "../../../../test/support/builders.ts";
import { createTestDatabase } from "../../../../test/support/database/database.ts";
import { readAnalytics } from "../../../../test/support/funnel/analytics.ts";
import { makeHit, SEARCH_AD } from "../../../../test/support/funnel/hits.ts";
import { toKeptSince } from "../../organizations/plan.ts";
import { deleteExpiredVisits } from "../delete-visits.ts";
import { packVisits } from "../packs/pack-visits.ts";
import { recordHits } from "../record/record.ts";

const { db } = await createTestDatabase();
/** By then, all days of these tests are over. */
const LATER = new Date("2027-01-01T12:00:00.000Z");

async function makeOwner(timeZone: string): Promise<{ owner: OrganizationId; widgetId: WidgetId }> {
  const owner = await makeOrganization(db, { timeZone });
  return { owner, widgetId: await makeWidget(db, owner) };
}

/** A visit at each of these instants. */
async function recordVisits(widgetId: WidgetId, instants: readonly string[]): Promise<void> {
  const hits = instants.map((at, visit) => makeHit({ widgetId, visit, at, step: "booking_completed" }));
  await recordHits(db, hits);
}

describe("an instant counts for the local day it falls on", { concurrency: true }, () => {
  // Instants, and the local day each one counts for.
  const cases: [what: string, zone: string, instants: [at: string, day: string][]][] = [
    ["a day of 25 hours", "Europe/Berlin", [
      ["2026-10-24T21:59:59.999Z", "2026-10-24"],
      ["2026-10-24T22:00:00.000Z", "2026-10-25"],
      ["2026-10-25T22:59:59.999Z", "2026-10-25"],
      ["2026-10-25T23:00:00.000Z", "2026-10-26"],
    ]],
    ["a day of 23 hours", "Europe/Berlin", [
      ["2026-03-28T22:59:59.999Z", "2026-03-28"],
      ["2026-03-28T23:00:00.000Z", "2026-03-29"],
      ["2026-03-29T21:59:59.999Z", "2026-03-29"],
      ["2026-03-29T22:00:00.000Z", "2026-03-30"],
    ]],
    ["half an hour off", "Asia/Kolkata", [
      ["2026-07-01T18:29:59.999Z", "2026-07-01"],
      ["2026-07-01T18:30:00.000Z", "2026-07-02"],
    ]],
    ["three quarters of an hour off", "Asia/Kathmandu", [
      ["2026-07-01T18:14:59.999Z", "2026-07-01"],
      ["2026-07-01T18:15:00.000Z", "2026-07-02"],
    ]],
    ["three quarters of an hour off, ahead of UTC by more than half a day", "Pacific/Chatham", [
      ["2026-01-01T10:14:59.999Z", "2026-01-01"],
      ["2026-01-01T10:15:00.000Z", "2026-01-02"],
      ["2026-07-01T11:14:59.999Z", "2026-07-01"],
      ["2026-07-01T11:15:00.000Z", "2026-07-02"],
    ]],
    ["clocks that move by half an hour", "Australia/Lord_Howe", [
      ["2026-10-03T13:29:59.999Z", "2026-10-03"],
      ["2026-10-03T13:30:00.000Z", "2026-10-04"],
      ["2026-10-04T12:59:59.999Z", "2026-10-04"],
      ["2026-10-04T13:00:00.000Z", "2026-10-05"],
    ]],
    ["a repeated midnight, both times in the new day", "Atlantic/Azores", [
      ["2026-10-24T23:59:59.999Z", "2026-10-24"],
      ["2026-10-25T00:30:00.000Z", "2026-10-25"],
      ["2026-10-25T01:30:00.000Z", "2026-10-25"],
      ["2026-10-26T00:59:59.999Z", "2026-10-25"],
      ["2026-10-26T01:00:00.000Z", "2026-10-26"],
    ]],
    ["a last hour that comes twice", "Asia/Beirut", [
      ["2026-10-24T20:59:59.999Z", "2026-10-24"],
      ["2026-10-24T21:00:00.000Z", "2026-10-24"],
      ["2026-10-24T21:59:59.999Z", "2026-10-24"],
      ["2026-10-24T22:00:00.000Z", "2026-10-25"],
    ]],
    ["a midnight that never comes", "Asia/Beirut", [
      ["2026-03-28T21:59:59.999Z", "2026-03-28"],
      ["2026-03-28T22:00:00.000Z", "2026-03-29"],
    ]],
    ["a midnight that never comes, on a Friday", "Africa/Cairo", [
      ["2026-04-23T21:59:59.999Z", "2026-04-23"],
      ["2026-04-23T22:00:00.000Z", "2026-04-24"],
    ]],
    ["a last hour that comes twice, on a Thursday", "Africa/Cairo", [
      ["2026-10-29T21:59:59.999Z", "2026-10-29"],
      ["2026-10-29T22:00:00.000Z", "2026-10-30"],
    ]],
    ["a midnight that never came, long ago", "America/Sao_Paulo", [
      ["2018-11-04T02:59:59.999Z", "2018-11-03"],
      ["2018-11-04T03:00:00.000Z", "2018-11-04"],
    ]],
    ["the furthest ahead", "Pacific/Kiritimati", [
      ["2026-07-01T09:59:59.999Z", "2026-07-01"],
      ["2026-07-01T10:00:00.000Z", "2026-07-02"],
    ]],
    ["the furthest behind", "Etc/GMT+12", [
      ["2026-07-01T11:59:59.999Z", "2026-06-30"],
      ["2026-07-01T12:00:00.000Z", "2026-07-01"],
    ]],
    ["clocks that go back a minute after midnight", "America/St_Johns", [
      ["2010-11-07T02:29:59.999Z", "2010-11-06"],
      ["2010-11-07T02:30:00.000Z", "2010-11-07"],
      ["2010-11-07T02:30:59.999Z", "2010-11-07"],
      ["2010-11-07T02:31:00.000Z", "2010-11-06"],
      ["2010-11-07T03:29:59.999Z", "2010-11-06"],
      ["2010-11-07T03:30:00.000Z", "2010-11-07"],
    ]],
    ["an offset that is no whole quarter of an hour, before 1972", "Africa/Monrovia", [
      ["1971-07-01T00:44:29.999Z", "1971-06-30"],
      ["1971-07-01T00:44:30.000Z", "1971-07-01"],
    ]],
  ]; // biome-ignore format: one instant a line
  for (const [what, zone, instants] of cases) {
    test(`${what}: ${zone}`, async () => {
      const { owner, widgetId } = await makeOwner(zone);
      await recordVisits(
        widgetId,
        instants.map(([at]) => at),
      );
      // Queried at each of the instants: that day is the last in the window, and nothing after it is included. A window of nine
      // days has packed days of which each quarter of an hour counts, and others that it cuts.
      const check = async (days: number) => {
        for (const [now, today] of instants) {
          const { daily, totals, channels } = await readAnalytics(db, owner, { days, now: new Date(now) });
          const expected = listDays(today, days).map((day) => {
            const visits = instants.filter((instant) => instant[1] === day).length;
            return { day, views: visits, bookings: visits };
          });
          const views = expected.reduce((sum, entry) => sum + entry.views, 0);
          assert.deepEqual(daily, expected, `${days} days at ${now}`);
          assert.deepEqual([totals.views, channels[0]?.views], [views, views]);
        }
      };
      await check(2);
      await packVisits(db, owner, { now: LATER });
      await check(2);
      await check(9);
    });
  }

  test("the day Samoa skipped is in the window, and nothing ever falls on it", async () => {
    const { owner, widgetId } = await makeOwner("Pacific/Apia");
    await recordVisits(widgetId, ["2011-12-30T09:59:59.999Z", "2011-12-30T10:00:00.000Z"]);
    const now = new Date("2011-12-30T10:00:00.000Z");
    assert.deepEqual((await readAnalytics(db, owner, { days: 3, now })).daily, [
      { day: "2011-12-29", views: 1, bookings: 1 },
      { day: "2011-12-30", views: 0, bookings: 0 },
      { day: "2011-12-31", views: 1, bookings: 1 },
    ]);
  });
});

describe("only days within the plan's retention are counted, each as a whole", { concurrency: true }, () => {
  const NOW = new Date("2026-11-01T12:00:00.000Z");
  // The oldest kept instant is noon UTC, which is past midnight in Auckland.
  const cases: [plan: Plan, zone: string, oldestDay: string, instants: [first: string, lastBefore: string]][] = [
    ["free", "UTC", "2026-10-02", ["2026-10-02T00:00:00.000Z", "2026-10-01T23:59:59.999Z"]],
    ["free", "Pacific/Auckland", "2026-10-03", ["2026-10-02T11:00:00.000Z", "2026-10-02T10:59:59.999Z"]],
    ["pro", "UTC", "2025-11-01", ["2025-11-01T00:00:00.000Z", "2025-10-31T23:59:59.999Z"]],
    ["business", "America/New_York", "2024-11-01", ["2024-11-01T04:00:00.000Z", "2024-11-01T03:59:59.999Z"]],
  ];
  for (const [plan, zone, oldestDay, [first, lastBefore]] of cases) {
    test(`${plan} in ${zone}`, async () => {
      const { owner, widgetId } = await makeOwner(zone);
      await recordVisits(widgetId, [first, lastBefore]);
      await packVisits(db, owner, { now: NOW });
      const keptSince = toKeptSince(plan, NOW);
      const response = await readAnalytics(db, owner, { days: 740, now: NOW, keptSince });
      assert.equal(response.daily.length, 740);
      assert.deepEqual(
        response.daily.filter(({ views }) => views > 0),
        [{ day: oldestDay, views: 1, bookings: 1 }],
      );
      assert.deepEqual(response.campaigns, [{ key: "(not set)", views: 1, bookings: 1, conversionRate: 1 }]);
      assert.deepEqual([response.totals.views, response.totals.bookings], [1, 1]);
    });
  }
});

describe("packed or not, reports are the same", { concurrency: true }, () => {
  const NOW = new Date("2026-11-01T12:00:00.000Z");

  test("wherever the window starts and ends", async () => {
    const { owner, widgetId } = await makeOwner("UTC");
    // The first and last day of each of fifteen months, and one in between.
    const days = Array.from({ length: 15 }, (_, index) => [
      Date.UTC(2025, 7 + index, 1),
      Date.UTC(2025, 7 + index, 14),
      Date.UTC(2025, 8 + index, 0),
    ]).flat();
    const past = days.filter((day) => day <= NOW.getTime()).map((day) => new Date(day).toISOString());
    await recordVisits(widgetId, past);
    const windows = [1, 2, 17, 31, 32, 62, 63, 93, 365, 366, 456, 457, 458, 700];
    const readAll = () => Promise.all(windows.map((window) => readAnalytics(db, owner, { days: window, now: NOW })));
    const fromVisits = await readAll();
    await packVisits(db, owner, { now: NOW });
    assert.deepEqual(await readAll(), fromVisits);
    for (const { totals, channels } of fromVisits) assert.deepEqual(channels[0]?.views ?? 0, totals.views);
    assert.equal(fromVisits.at(-1)?.totals.views, past.length);
  });

  test("however much of a span lies before the window or has expired", async () => {
    const { owner, widgetId } = await makeOwner("UTC");
    const daysAgo = (days: number) => new Date(NOW.getTime() - days * DAY_MS);
    // A prime number of campaigns, so that neighbouring days and spans differ. 5 September to 4 October is a span of 30 days.
    await recordHits(
      db,
      Array.from({ length: 70 }, (_, days) => {
        const campaign = `Campaign ${days % 7}`;
        return makeHit({ widgetId, visit: days, at: daysAgo(days), class: { ...SEARCH_AD, campaign } });
      }),
    );
    // The oldest kept day falls before, on the edges of, and within the span.
    const keptSince = [65, 59, 58, 57, 50, 40, 29, 28, 27].map(daysAgo);
    const windows = [20, 27, 28, 29, 30, 40, 56, 57, 58, 59, 60, 70];
    const asked = windows.flatMap((days) => [null, widgetId].map((widget) => ({ days, widgetId: widget })));
    const readAll = (since: Date) =>
      Promise.all(asked.map((window) => readAnalytics(db, owner, { ...window, now: NOW, keptSince: since })));
    // One after the other: requests that wait too long for a connection fail.
    const fromVisits: Awaited<ReturnType<typeof readAll>>[] = [];
    for (const since of keptSince) fromVisits.push(await readAll(since));

    await packVisits(db, owner, { now: NOW });
    for (const [index, since] of keptSince.entries()) {
      assert.deepEqual(await readAll(since), fromVisits[index], `hidden before ${since.toISOString()}`);
      await deleteExpiredVisits(db, owner, { keptSince: since, limit: 10_000 });
      assert.deepEqual(await readAll(since), fromVisits[index], `deleted before ${since.toISOString()}`);
      if (index % 2 === 0) await packVisits(db, owner, { now: NOW });
    }
  });
});

/** Up to this one. */
function listDays(last: string, count: number): string[] {
  return Array.from({ length: count }, (_, i) =>
    Temporal.PlainDate.from(last)
      .subtract({ days: count - 1 - i })
      .toString(),
  );
}
