import assert from "node:assert/strict";
import { test } from "node:test";
import { listIntervals, toBuckets, toRoundTicks } from "./buckets.ts";

const daily = (from: string, count: number) =>
  Array.from({ length: count }, (_, i) => {
    const day = new Date(Date.parse(from) + i * 86_400_000).toISOString().slice(0, 10);
    return { day, views: 10, bookings: 1 };
  });

test("weeks begin on the reader's first day, months on the first, and days before the first data stay empty", () => {
  const counts = { daily: daily("2026-09-26", 12), hourly: null, dataSince: "2026-09-28", now: "2026-10-07T12:00" };
  assert.deepEqual(toBuckets(counts, "week", 1), [
    { start: "2026-09-21" },
    { start: "2026-09-28", views: 70, bookings: 7 },
    { start: "2026-10-05", views: 30, bookings: 3, isPartial: true },
  ]);
  assert.deepEqual(
    toBuckets(counts, "week", 0).map(({ start }) => start),
    ["2026-09-20", "2026-09-27", "2026-10-04"],
  );
  assert.deepEqual(toBuckets(counts, "month", 1), [
    { start: "2026-09-01", views: 30, bookings: 3, isPartial: true },
    { start: "2026-10-01", views: 70, bookings: 7, isPartial: true },
  ]);
  const days = toBuckets(counts, "day", 1);
  assert.deepEqual(days[0], { start: "2026-09-26" });
  assert.deepEqual(days.slice(-2), [
    { start: "2026-10-06", views: 10, bookings: 1 },
    { start: "2026-10-07", views: 10, bookings: 1, isPartial: true },
  ]);
});

test("hours that are still to come have no counts", () => {
  const hourly = [{ hour: "2026-11-01T09", views: 4, bookings: 2 }];
  const buckets = toBuckets(
    { daily: daily("2026-11-01", 1), hourly, dataSince: "2026-01-01", now: "2026-11-01T12:30" },
    "hour",
    1,
  );
  assert.equal(buckets.length, 24);
  assert.deepEqual(
    [buckets[9], buckets[12], buckets[13]],
    [
      { start: "2026-11-01T09", views: 4, bookings: 2 },
      { start: "2026-11-01T12", views: 0, bookings: 0, isPartial: true },
      { start: "2026-11-01T13" },
    ],
  );
});

test("an earlier day that is compared with half of today ends at the same time", () => {
  const hourly = [{ hour: "2026-10-31T09", views: 4, bookings: 2 }];
  const counts = { daily: daily("2026-10-31", 1), hourly, dataSince: null, now: "2026-10-31T12:00" };
  const shown = toBuckets(counts, "hour", 1).filter(({ views }) => views !== undefined);
  assert.equal(shown.at(-1)?.start, "2026-10-31T12");
});

test("ticks are round numbers that reach the largest value", () => {
  for (const [most, ticks] of [
    [0, [0, 1]],
    [1, [0, 1]],
    [3, [0, 1, 2, 3]],
    [7, [0, 2, 4, 6, 8]],
    [38, [0, 10, 20, 30, 40]],
    [412, [0, 200, 400, 600]],
    [1000, [0, 500, 1000]],
  ] as const)
    assert.deepEqual(toRoundTicks(most), ticks, String(most));
});

test("one or two days have hours, long periods begin with weeks, and more than a month has months", () => {
  assert.deepEqual(listIntervals(1, true), ["hour"]);
  assert.deepEqual(listIntervals(2, true), ["hour", "day"]);
  assert.deepEqual(listIntervals(30, false), ["day", "week"]);
  assert.deepEqual(listIntervals(31, false), ["day", "week"]);
  assert.deepEqual(listIntervals(32, false), ["day", "week", "month"]);
  assert.deepEqual(listIntervals(90, false), ["day", "week", "month"]);
  assert.deepEqual(listIntervals(365, false), ["week", "day", "month"]);
});
