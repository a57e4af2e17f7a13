import assert from "node:assert/strict";
import { test } from "node:test";
import { DAY_MS, HOUR_MS } from "#contract/durations.ts";
import { formatIn, formatRelative, formatShortDay } from "./format.ts";

test("relative times count whole days and weeks, and never name a calendar day", () => {
  const table: [aheadMs: number, words: string][] = [
    [-47 * HOUR_MS, "1 day ago"],
    [-13 * DAY_MS, "1 week ago"],
    [30 * HOUR_MS, "in 1 day"],
    [7 * DAY_MS - 500, "in 7 days"],
    [0, "just now"],
  ];
  for (const [aheadMs, words] of table)
    assert.equal(formatRelative(new Date(Date.now() + aheadMs).toISOString()), words);
});

test("the days of an axis are those of the organization's time zone, as its times are", () => {
  const { shortDate, shortDateTime, time } = formatIn("America/New_York");
  const midnight = "2026-11-02T00:00:00Z";
  assert.equal(shortDate(midnight), formatShortDay("2026-11-01"));
  assert.ok(shortDateTime(midnight).startsWith(shortDate(midnight)), shortDateTime(midnight));
  assert.ok(shortDateTime(midnight).endsWith(time(midnight).slice(-"00".length)), shortDateTime(midnight));
});
