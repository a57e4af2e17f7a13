import assert from "node:assert/strict";
import { test } from "node:test";
import { formatConversionRate, toCountChange, toDaysChange, toDayUnit, toRateChange } from "./report-words.ts";

test("counts change in percent, and from nothing in words", () => {
  assert.deepEqual(toCountChange(12, 10), { direction: "up", text: "20.0%" });
  assert.deepEqual(toCountChange(5, 10), { direction: "down", text: "50.0%" });
  assert.deepEqual(toCountChange(10, 10), { direction: "same", text: "No change" });
  assert.deepEqual(toCountChange(0, 0), { direction: "same", text: "No change" });
  assert.deepEqual(toCountChange(4, 0), { direction: "none", text: "Up from 0" });
});

test("rates change in points, but only if both periods have views", () => {
  const rate = (conversionRate: number, views = 100) => ({ views, conversionRate });
  assert.deepEqual(toRateChange(rate(0.1), rate(0.08)), { direction: "up", text: "2", unit: "points" });
  assert.deepEqual(toRateChange(rate(0.07), rate(0.08)), { direction: "down", text: "1", unit: "point" });
  assert.deepEqual(toRateChange(rate(0.5), rate(0, 0)), { direction: "none", text: "No earlier views" });
  assert.deepEqual(toRateChange(rate(0, 0), rate(0.5)), { direction: "none", text: "No views" });
});

test("bookings without views have no conversion rate", () => {
  assert.equal(formatConversionRate({ views: 0, conversionRate: 0 }), "–");
  assert.equal(formatConversionRate({ views: 10, conversionRate: 0 }), "0.0%");
});

test("lead times change in days, but only if both periods have lead times", () => {
  assert.deepEqual(toDaysChange(6.5, 5), { direction: "up", text: "1.5", unit: "days" });
  assert.deepEqual(toDaysChange(6, null), { direction: "none", text: "No earlier bookings" });
  assert.deepEqual(toDaysChange(null, 6), { direction: "none", text: "No bookings" });
});

test("a lead time that is shown as 1 is one day", () => {
  assert.deepEqual([0.94, 0.96, 1, 1.04, 1.06].map(toDayUnit), ["days", "day", "day", "day", "days"]);
});
