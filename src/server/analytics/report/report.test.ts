import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { DAY_MS, HOUR_MS } from "#contract/durations.ts";
import { readZoneRules } from "../../lib/time/zone-rules.ts";
import { toLocalWindow } from "../count/local-window.ts";
import { VisitCounts } from "../count/visit-counts.ts";
import { toDayReport, toEntry } from "./report.ts";

const TODAY = "2026-11-01";

function makeCounts(): VisitCounts {
  const window = toLocalWindow(readZoneRules("UTC"), { from: "2026-10-30", to: TODAY });
  return new VisitCounts(window, { filters: [], lists: [] });
}

/** In the hour that begins then. */
function addHour(counts: VisitCounts, start: string, { views = 0, bookings = 0 }): void {
  const hour = Date.parse(start) / HOUR_MS - counts.firstHour;
  counts.hourViews[hour] = views;
  counts.hourBookings[hour] = bookings;
}

test("without data the report is all zeros", () => {
  assert.deepEqual(toDayReport(makeCounts(), { zone: "Asia/Kathmandu", to: TODAY, days: 3 }), {
    days: 3,
    timeZone: "Asia/Kathmandu",
    totals: {
      views: 0,
      slotSessions: 0,
      formSessions: 0,
      bookings: 0,
      failed: 0,
      noAvailability: 0,
      conversionRate: 0,
      avgLeadDays: null,
    },
    daily: [
      { day: "2026-10-30", views: 0, bookings: 0 },
      { day: "2026-10-31", views: 0, bookings: 0 },
      { day: "2026-11-01", views: 0, bookings: 0 },
    ],
    funnel: {
      widget_viewed: 0,
      service_selected: 0,
      date_selected: 0,
      slot_selected: 0,
      form_started: 0,
      booking_completed: 0,
    },
  });
});

test("every count lands in its own field", () => {
  const counts = makeCounts();
  addHour(counts, "2026-11-01T00:00Z", { views: 15, bookings: 1 });
  addHour(counts, "2026-11-01T23:00Z", { views: 5, bookings: 2 });
  addHour(counts, "2026-10-30T12:00Z", { views: 43, bookings: 5 });
  counts.reached.splice(0, 6, 32, 16, 8, 4, 2, 1);
  counts.failed = 9;
  counts.noAvailability = 10;
  counts.leadMs = 10 * DAY_MS;
  counts.leadTimes.splice(0, 2, 1, 3);
  assert.deepEqual(toDayReport(counts, { zone: "UTC", to: TODAY, days: 3 }), {
    days: 3,
    timeZone: "UTC",
    totals: {
      views: 63,
      slotSessions: 7,
      formSessions: 3,
      bookings: 8,
      failed: 9,
      noAvailability: 10,
      conversionRate: 8 / 63,
      avgLeadDays: 2.5,
    },
    daily: [
      { day: "2026-10-30", views: 43, bookings: 5 },
      { day: "2026-10-31", views: 0, bookings: 0 },
      { day: "2026-11-01", views: 20, bookings: 3 },
    ],
    funnel: {
      widget_viewed: 63,
      service_selected: 31,
      date_selected: 15,
      slot_selected: 7,
      form_started: 3,
      booking_completed: 1,
    },
  });
});

describe("conversionRate is bookings / views, 0 without views and never above 1", () => {
  const cases: [views: number, bookings: number, rate: number][] = [
    [0, 0, 0],
    [0, 3, 0],
    [3, 1, 1 / 3],
    [3, 3, 1],
    [2, 5, 1],
    [1_000_000_007, 1, 1 / 1_000_000_007],
  ];
  for (const [views, bookings, rate] of cases) {
    test(`${bookings} of ${views}`, () => {
      const counts = makeCounts();
      addHour(counts, "2026-11-01T09:00Z", { views, bookings });
      counts.reached[0] = views;
      assert.equal(toDayReport(counts, { zone: "UTC", to: TODAY, days: 3 }).totals.conversionRate, rate);
      const entry = { key: "Direct", views, bookings };
      assert.deepEqual(toEntry(entry), { ...entry, conversionRate: rate });
    });
  }
});

describe("avgLeadDays is rounded to two decimals, at the end only", () => {
  const cases: [leadMs: number, count: number, days: number | null][] = [
    [0, 0, null],
    [0, 3, 0],
    [DAY_MS, 1, 1],
    [DAY_MS, 3, 0.33],
    [2 * DAY_MS, 3, 0.67],
    [0.004 * DAY_MS, 1, 0],
    [0.005 * DAY_MS, 1, 0.01],
    [365.256 * DAY_MS, 1, 365.26],
  ];
  for (const [leadMs, count, days] of cases) {
    test(`${leadMs} ms over ${count} bookings`, () => {
      const counts = makeCounts();
      counts.leadMs = leadMs;
      counts.leadTimes[0] = count;
      assert.equal(toDayReport(counts, { zone: "UTC", to: TODAY, days: 3 }).totals.avgLeadDays, days);
    });
  }
});

describe("daily has exactly `days` entries, up to the last day", () => {
  const cases: [today: string, days: number, first: string][] = [
    ["2026-11-01", 1, "2026-11-01"],
    ["2026-11-01", 30, "2026-10-03"],
    ["2026-11-01", 730, "2024-11-02"],
    ["2024-03-01", 2, "2024-02-29"],
    ["2025-03-01", 2, "2025-02-28"],
    // The day Samoa skipped is an ordinary calendar day.
    ["2011-12-31", 3, "2011-12-29"],
  ];
  for (const [today, days, first] of cases) {
    test(`${days} up to ${today}`, () => {
      const { daily } = toDayReport(makeCounts(), { zone: "UTC", to: today, days });
      const dayNumbers = daily.map(({ day }) => Date.parse(day) / DAY_MS);
      assert.deepEqual([daily.length, daily[0]?.day, daily.at(-1)?.day], [days, first, today]);
      assert.ok(dayNumbers.every((number, index) => index === 0 || number === Number(dayNumbers[index - 1]) + 1));
    });
  }
});
