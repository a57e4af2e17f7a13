import assert from "node:assert/strict";
import { test } from "node:test";
import { formatDay } from "../../format.ts";
import { describeBuckets } from "./buckets.ts";

test("the chart's sentence has the counts and the best days", () => {
  const days = [
    { start: "2026-11-01", views: 5, bookings: 1 },
    { start: "2026-11-02", views: 3, bookings: 1 },
  ];
  assert.equal(
    describeBuckets(days, "day"),
    `8 views and 2 bookings. Most views on ${formatDay("2026-11-01")} (5); most bookings: 2 days with 1 each.`,
  );
});

test("a day that isn't over is not described as 24 hours", () => {
  const hours = Array.from({ length: 24 }, (_, hour) => ({
    start: `2026-11-01T${String(hour).padStart(2, "0")}`,
    ...(hour <= 9 ? { views: 0, bookings: 0 } : {}),
  }));
  assert.equal(describeBuckets(hours, "hour"), "0 views and 0 bookings.");
});
