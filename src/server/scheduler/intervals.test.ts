import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { assertGrowsLinearly } from "../../../test/support/cost.ts";
import { covers, type Interval, intersect, merge, subtract } from "./intervals.ts";

function spans(...pairs: [number, number][]): Interval[] {
  return pairs.map(([startMs, endMs]) => ({ startMs, endMs }));
}

test("intervals that touch or overlap are merged, in order; empty ones disappear", () => {
  assert.deepEqual(merge(spans([5, 7], [1, 3], [3, 4], [6, 9], [8, 8])), spans([1, 4], [5, 9]));
});

test("taken intervals are cut out", () => {
  assert.deepEqual(subtract(spans([0, 10]), spans([2, 3], [5, 7])), spans([0, 2], [3, 5], [7, 10]));
  assert.deepEqual(subtract(spans([0, 10]), spans([-5, 20])), []);
  assert.deepEqual(subtract(spans([0, 4], [6, 9]), spans([3, 7])), spans([0, 3], [7, 9]));
});

test("an interval is covered only by one that contains all of it", () => {
  assert.equal(covers(spans([0, 4], [5, 9]), { startMs: 5, endMs: 9 }), true);
  assert.equal(covers(spans([0, 4], [5, 9]), { startMs: 3, endMs: 6 }), false);
});

test("a moment is left exactly when it was there and is not taken", () => {
  const anyIntervals = fc.array(fc.tuple(fc.integer({ min: 0, max: 30 }), fc.integer({ min: 0, max: 30 })));
  fc.assert(
    fc.property(anyIntervals, anyIntervals, (a, b) => {
      const [from, taken] = [spans(...a), spans(...b)];
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
  assert.deepEqual(intersect(spans([0, 5], [5, 10]), spans([3, 7], [8, 20])), spans([3, 5], [5, 7], [8, 10]));
  assert.deepEqual(intersect(spans([0, 5]), []), []);
});
