import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { chooseBest, leaveOutBefore } from "./best-keys.ts";

const totalsOf = fc
  .array(fc.record({ views: fc.nat(5), bookings: fc.nat(3) }), { maxLength: 40 })
  .map((counts) => new Map(counts.map((each, id) => [id, each] as const)));

test("chooses what sorting would put first, and all that tie with the last of them", () => {
  fc.assert(
    fc.property(totalsOf, fc.integer({ min: 1, max: 12 }), (totals, rowsMax) => {
      const sorted = [...totals.values()].sort((a, b) => b.bookings - a.bookings || b.views - a.views);
      const last = sorted[rowsMax - 1] ?? { views: 0, bookings: 0 };
      const expected = [...totals].filter(
        ([, { views, bookings }]) => bookings > last.bookings || (bookings === last.bookings && views >= last.views),
      );
      assert.deepEqual([...chooseBest(totals, rowsMax)], expected);
    }),
  );
});

test("leaves a page far down the list to PostgreSQL", () => {
  const totals = new Map(Array.from({ length: 1_200 }, (_, id) => [id, { views: id, bookings: 0 }] as const));
  assert.equal(chooseBest(totals, 1_000).size, 1_000);
  assert.equal(chooseBest(totals, 1_001), totals);
});

test("leaves out what comes before a row, not what ties with it", () => {
  const totals = new Map([
    ["a", { views: 9, bookings: 1 }],
    ["b", { views: 1, bookings: 2 }],
    ["c", { views: 8, bookings: 1 }],
    ["d", { views: 9, bookings: 1 }],
    ["e", { views: 99, bookings: 0 }],
  ]);
  assert.deepEqual([...leaveOutBefore(totals, { views: 9, bookings: 1 }).keys()], ["a", "c", "d", "e"]);
});
