import assert from "node:assert/strict";
import { test } from "node:test";
import { describeDayRange } from "../../days.ts";
import { toEarlier } from "./buckets.ts";

const TOTALS = {
  ...{ views: 0, slotSessions: 0, formSessions: 0, bookings: 0, failed: 0, noAvailability: 0 },
  ...{ conversionRate: 0, avgLeadDays: null },
};

const makePrevious = (days: number) => ({
  from: "2026-10-01",
  to: `2026-10-${String(days).padStart(2, "0")}`,
  untilTime: null,
  isComplete: true,
  totals: TOTALS,
  hourly: null,
  daily: Array.from({ length: days }, (_, i) => ({
    day: `2026-10-${String(i + 1).padStart(2, "0")}`,
    views: i,
    bookings: 0,
  })),
});

test("a longer comparison is drawn as far as the period goes, and the chart says so", () => {
  const report = { previous: makePrevious(31), dataSince: "2026-01-01" };
  const range = describeDayRange("2026-10-01", "2026-10-31");
  const days = toEarlier(report, "day", 7);
  assert.deepEqual(
    days.buckets.map(({ start }) => start),
    report.previous.daily.slice(0, 7).map(({ day }) => day),
  );
  assert.equal(days.label, `${range} (first 7 days)`);
  assert.equal(days.note, `The grey line shows the first 7 days of ${range}.`);
  assert.equal(toEarlier(report, "week", 1).label, `${range} (first week)`);
});

test("a comparison of the same length, or a shorter one, is drawn whole", () => {
  const report = { previous: makePrevious(7), dataSince: "2026-01-01" };
  for (const points of [7, 30]) {
    const { buckets, label, note } = toEarlier(report, "day", points);
    assert.equal(buckets.length, 7);
    assert.deepEqual({ label, note }, { label: describeDayRange("2026-10-01", "2026-10-07"), note: "" });
  }
});

test("a comparison without hours is not drawn as hours without visits", () => {
  const { buckets, note } = toEarlier({ previous: makePrevious(10), dataSince: "2026-01-01" }, "hour", 48);
  assert.deepEqual(buckets, []);
  assert.equal(note, "The comparison isn’t shown by hour because it covers more than 2 days.");
});

test("without a whole earlier period there is no line", () => {
  const none = { buckets: [], label: "", note: "" };
  assert.deepEqual(toEarlier({ previous: null, dataSince: null }, "day", 7), none);
  const cut = { previous: { ...makePrevious(7), isComplete: false }, dataSince: "2026-10-05" };
  assert.deepEqual(toEarlier(cut, "day", 7), none);
});
