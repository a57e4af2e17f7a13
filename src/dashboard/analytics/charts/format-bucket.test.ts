import assert from "node:assert/strict";
import { test } from "node:test";
import { formatDay, formatShortDay } from "../../format.ts";
import { formatTick } from "./buckets.ts";

test("ticks have the year if the axis has several, and the day at midnight if it has several", () => {
  const short = { interval: "day", hasYears: false, hasDays: true } as const;
  assert.equal(formatTick("2026-11-01", short), formatShortDay("2026-11-01"));
  assert.equal(formatTick("2026-11-01", { ...short, hasYears: true }), formatDay("2026-11-01"));
  const hours = { ...short, interval: "hour" } as const;
  assert.equal(formatTick("2026-11-01T00", hours), formatShortDay("2026-11-01"));
  assert.equal(
    formatTick("2026-11-01T00", { ...hours, hasDays: false }),
    formatTick("2026-11-02T00", { ...hours, hasDays: false }),
  );
  assert.match(formatTick("2026-11-01T13", hours), /13:00|1:00/);
});
