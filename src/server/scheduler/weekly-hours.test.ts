import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { assertGrowsLinearly } from "../../../test/support/cost.ts";
import { covers, type Interval, intersect, merge, subtract, toOpenIntervals, toStartTimes } from "./weekly-hours.ts";

const EVERY_DAY = [1, 2, 3, 4, 5, 6, 7];

/** The start times of a day's slots in UTC, as hours and minutes. */
function listStarts(query: {
  day: string;
  timeZone: string;
  opens: string;
  closes: string;
  stepMinutes?: number;
}): string[] {
  const { day, timeZone, opens, closes, stepMinutes = 60 } = query;
  const from = new Date(Temporal.PlainDate.from(day).toZonedDateTime(timeZone).epochMilliseconds);
  const to = new Date(Temporal.PlainDate.from(day).add({ days: 1 }).toZonedDateTime(timeZone).epochMilliseconds);
  const hours = EVERY_DAY.map((weekday) => ({ weekday, opens, closes }));
  return toStartTimes(toOpenIntervals(hours, { timeZone, from, to }), { stepMinutes, durationMinutes: stepMinutes })
    .filter((startMs) => startMs >= from.getTime() && startMs < to.getTime())
    .map((startMs) => new Date(startMs).toISOString().slice(5, 16));
}

const OFFICE = { opens: "09:00", closes: "11:00" };

const DAYS: readonly { name: string; query: Parameters<typeof listStarts>[0]; starts: readonly string[] }[] = [
  {
    name: "the day before clocks go forward in Berlin",
    query: { day: "2026-03-28", timeZone: "Europe/Berlin", ...OFFICE },
    starts: ["03-28T08:00", "03-28T09:00"],
  },
  {
    name: "the day when clocks go forward in Berlin: nine is still nine",
    query: { day: "2026-03-29", timeZone: "Europe/Berlin", ...OFFICE },
    starts: ["03-29T07:00", "03-29T08:00"],
  },
  {
    name: "the day when clocks go back in Berlin",
    query: { day: "2026-10-25", timeZone: "Europe/Berlin", ...OFFICE },
    starts: ["10-25T08:00", "10-25T09:00"],
  },
  {
    name: "hours across the hour that is skipped: one slot fewer",
    query: { day: "2026-03-29", timeZone: "Europe/Berlin", opens: "01:00", closes: "05:00" },
    starts: ["03-29T00:00", "03-29T01:00", "03-29T02:00"],
  },
  {
    name: "hours across the hour that is repeated: one slot more",
    query: { day: "2026-10-25", timeZone: "Europe/Berlin", opens: "01:00", closes: "05:00" },
    starts: ["10-24T23:00", "10-25T00:00", "10-25T01:00", "10-25T02:00", "10-25T03:00"],
  },
  {
    name: "an opening at a skipped time is an hour later by the clock",
    query: { day: "2026-03-29", timeZone: "Europe/Berlin", opens: "02:00", closes: "05:00" },
    starts: ["03-29T01:00", "03-29T02:00"],
  },
  {
    name: "an opening in the middle of the skipped hour is an hour later too",
    query: { day: "2026-03-29", timeZone: "Europe/Berlin", opens: "02:30", closes: "05:30" },
    starts: ["03-29T01:30", "03-29T02:30"],
  },
  {
    name: "clocks that change by half an hour (Lord Howe)",
    query: { day: "2026-04-05", timeZone: "Australia/Lord_Howe", opens: "00:00", closes: "03:00" },
    starts: ["04-04T13:00", "04-04T14:00", "04-04T15:00"],
  },
  {
    name: "a zone half a day ahead (Auckland): the day starts on the previous UTC day",
    query: { day: "2026-11-02", timeZone: "Pacific/Auckland", ...OFFICE },
    starts: ["11-01T20:00", "11-01T21:00"],
  },
  {
    name: "open until midnight",
    query: { day: "2026-11-02", timeZone: "UTC", opens: "22:00", closes: "00:00" },
    starts: ["11-02T22:00", "11-02T23:00"],
  },
  {
    name: "a slot that would not end before closing is not offered",
    query: { day: "2026-11-02", timeZone: "UTC", opens: "09:00", closes: "10:45", stepMinutes: 30 },
    starts: ["11-02T09:00", "11-02T09:30", "11-02T10:00"],
  },
];
for (const { name, query, starts } of DAYS) {
  test(name, () => assert.deepEqual(listStarts(query), starts));
}

test("a week with a clock change has the same local times each day", () => {
  const hours = EVERY_DAY.map((weekday) => ({ weekday, ...OFFICE }));
  const range = { from: new Date("2026-10-22T00:00:00Z"), to: new Date("2026-10-29T00:00:00Z") };
  for (const timeZone of ["Europe/Berlin", "America/New_York", "Africa/Casablanca"]) {
    const open = toOpenIntervals(hours, { timeZone, ...range });
    const wall = open.map(({ startMs }) => new Date(startMs).toLocaleTimeString("sv", { timeZone }));
    assert.deepEqual([...new Set(wall)], ["09:00:00"], timeZone);
  }
});

function intervals(...pairs: [number, number][]): Interval[] {
  return pairs.map(([startMs, endMs]) => ({ startMs, endMs }));
}

test("intervals that touch or overlap are merged, in order; empty ones disappear", () => {
  assert.deepEqual(merge(intervals([5, 7], [1, 3], [3, 4], [6, 9], [8, 8])), intervals([1, 4], [5, 9]));
});

test("taken intervals are cut out", () => {
  assert.deepEqual(subtract(intervals([0, 10]), intervals([2, 3], [5, 7])), intervals([0, 2], [3, 5], [7, 10]));
  assert.deepEqual(subtract(intervals([0, 10]), intervals([-5, 20])), []);
  assert.deepEqual(subtract(intervals([0, 4], [6, 9]), intervals([3, 7])), intervals([0, 3], [7, 9]));
});

test("an interval is covered only by one that contains all of it", () => {
  assert.equal(covers(intervals([0, 4], [5, 9]), { startMs: 5, endMs: 9 }), true);
  assert.equal(covers(intervals([0, 4], [5, 9]), { startMs: 3, endMs: 6 }), false);
});

test("a moment is left exactly when it was there and is not taken", () => {
  const anyIntervals = fc.array(fc.tuple(fc.integer({ min: 0, max: 30 }), fc.integer({ min: 0, max: 30 })));
  fc.assert(
    fc.property(anyIntervals, anyIntervals, (a, b) => {
      const [from, taken] = [intervals(...a), intervals(...b)];
      const left = subtract(from, taken);
      assert.deepEqual(left, merge(left));
      const has = (list: readonly Interval[], at: number) =>
        list.some(({ startMs, endMs }) => startMs <= at && at < endMs);
      for (let at = 0; at <= 30; at++) assert.equal(has(left, at), has(from, at) && !has(taken, at), `${at}`);
    }),
  );
});

test("long lists take no more than linear time", () => {
  assertGrowsLinearly((length) => {
    const every = (offset: number) =>
      Array.from({ length }, (_, n) => ({ startMs: n * 10 + offset, endMs: n * 10 + offset + 4 }));
    const left = subtract(every(0), every(2));
    const shared = intersect(every(0), every(2));
    assert.equal(every(0).filter((interval) => covers(left, interval)).length, 0);
    assert.deepEqual([left.length, shared.length], [length, length]);
  }, 32_000);
});

test("an intersection keeps the shared parts, and keeps adjacent intervals separate", () => {
  assert.deepEqual(
    intersect(intervals([0, 5], [5, 10]), intervals([3, 7], [8, 20])),
    intervals([3, 5], [5, 7], [8, 10]),
  );
  assert.deepEqual(intersect(intervals([0, 5]), []), []);
});
