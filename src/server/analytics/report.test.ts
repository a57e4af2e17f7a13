import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { DAY_MS } from "#contract/durations.ts";
import type { AnalyticsCounts } from "./queries.ts";
import { toAnalytics } from "./report.ts";

const NOTHING: AnalyticsCounts = {
  zone: "UTC",
  today: "2026-11-01",
  days: [],
  reached: [0, 0, 0, 0, 0, 0],
  bookings: 0,
  failed: 0,
  no_availability: 0,
  lead_ms: 0,
  lead_count: 0,
  channels: [],
  sources: [],
  campaigns: [],
};

test("without data the report is all zeros", () => {
  assert.deepEqual(toAnalytics({ ...NOTHING, zone: "Asia/Kathmandu" }, 3), {
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
    channels: [],
    sources: [],
    campaigns: [],
  });
});

test("every count lands in its own field", () => {
  const counts: AnalyticsCounts = {
    zone: "UTC",
    today: "2026-11-01",
    // Unordered, as a statement without an order may return them.
    days: [
      { day: "2026-11-01", views: 20, bookings: 3 },
      { day: "2026-10-30", views: 43, bookings: 5 },
    ],
    reached: [32, 16, 8, 4, 2, 1],
    bookings: 8,
    failed: 9,
    no_availability: 10,
    lead_ms: 10 * DAY_MS,
    lead_count: 4,
    channels: [
      { key: "Direct", views: 60, bookings: 6 },
      { key: "Email", views: 3, bookings: 2 },
    ],
    sources: [{ key: "(direct) / (none)", views: 60, bookings: 6 }],
    campaigns: [{ key: "(not set)", views: 63, bookings: 8 }],
  };
  assert.deepEqual(toAnalytics(counts, 3), {
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
    channels: [
      { key: "Direct", views: 60, bookings: 6, conversionRate: 0.1 },
      { key: "Email", views: 3, bookings: 2, conversionRate: 2 / 3 },
    ],
    sources: [{ key: "(direct) / (none)", views: 60, bookings: 6, conversionRate: 0.1 }],
    campaigns: [{ key: "(not set)", views: 63, bookings: 8, conversionRate: 8 / 63 }],
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
      const channels = [{ key: "Direct", views, bookings }];
      const answer = toAnalytics({ ...NOTHING, reached: [views, 0, 0, 0, 0, 0], bookings, channels }, 1);
      assert.deepEqual(answer.totals.conversionRate, rate);
      assert.deepEqual(answer.channels, [{ key: "Direct", views, bookings, conversionRate: rate }]);
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
      const counts = { ...NOTHING, bookings: count, lead_ms: leadMs, lead_count: count };
      assert.equal(toAnalytics(counts, 1).totals.avgLeadDays, days);
    });
  }
});

describe("daily has exactly `days` entries, ending today", () => {
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
      const { daily } = toAnalytics({ ...NOTHING, today }, days);
      const dayNumbers = daily.map(({ day }) => Date.parse(day) / DAY_MS);
      assert.deepEqual([daily.length, daily[0]?.day, daily.at(-1)?.day], [days, first, today]);
      assert.ok(dayNumbers.every((number, index) => index === 0 || number === Number(dayNumbers[index - 1]) + 1));
    });
  }
});
