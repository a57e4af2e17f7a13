import assert from "node:assert/strict";
import { test } from "node:test";
import { formatDay } from "../format.ts";
import { describeComparison } from "./report-words.ts";

const WEEK = { from: "2026-10-26", days: 7 };

const compareWith = (from: string, to: string, count: number, untilTime: string | null = null) => {
  const daily = Array.from({ length: count }, () => ({ day: from, views: 0, bookings: 0 }));
  return describeComparison(WEEK, { from, to, untilTime, daily });
};

test("the period just before is called that, any other one by its days", () => {
  assert.equal(compareWith("2026-10-19", "2026-10-25", 7), "Compared with the previous 7 days.");
  assert.equal(
    compareWith("2025-10-26", "2025-11-01", 7, "12:00"),
    `Compared with ${formatDay("2025-10-26")} – ${formatDay("2025-11-01")} up to the same time of day.`,
  );
});

test("a comparison of another length says so, and one day is not a range", () => {
  assert.equal(
    compareWith("2026-09-01", "2026-09-30", 30),
    `Compared with ${formatDay("2026-09-01")} – ${formatDay("2026-09-30")} (30 days; the selected period has 7).`,
  );
  assert.equal(
    compareWith("2026-10-25", "2026-10-25", 1),
    `Compared with ${formatDay("2026-10-25")} (1 day; the selected period has 7).`,
  );
});
