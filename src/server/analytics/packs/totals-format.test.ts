import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { DIMENSIONS, type Dimension } from "#contract/analytics/dimensions.ts";
import { decodeTotals } from "../../../../test/support/funnel/packs.ts";
import { isKeyed } from "../record/key-id.ts";
import { createTotals, encodeTotals, type KeyCounts, QUARTER_MS, type Totals, TotalsReader } from "./totals.ts";

const OLDEST = Date.parse("0001-01-01") / QUARTER_MS;
const LATEST = Date.parse("2100-01-01") / QUARTER_MS;

test("totals are the same after they were saved and read", () => {
  fc.assert(
    fc.property(someTotals(), (totals) => {
      assert.deepEqual(toPlain(decodeTotals(encodeTotals(totals))), toPlain(totals));
    }),
  );
});

test("totals of nothing are the same too", () => {
  assert.deepEqual(decodeTotals(encodeTotals(createTotals())), createTotals());
});

test("numbers of one byte and of eight", () => {
  const numbers = [0, 1, 127, 128, 16_383, 16_384, 2 ** 31, 2 ** 32, 2 ** 35 - 1, Number.MAX_SAFE_INTEGER];
  for (const number of numbers) {
    const totals = { ...createTotals(), leadMs: number, failed: number };
    const { leadMs, failed } = decodeTotals(encodeTotals(totals));
    assert.deepEqual([leadMs, failed], [number, number]);
  }
});

test("totals are read one after the other: quarters oldest first, and lists are added to what is there, for the wanted dimensions alone", () => {
  fc.assert(
    fc.property(someTotals(), someTotals(), fc.subarray([...DIMENSIONS]), (one, other, wanted) => {
      const lists = new Map<Dimension, KeyCounts>(wanted.map((dimension) => [dimension, new Map()]));
      const encoded = [one, other].map(encodeTotals);
      const joined = (part: "counts" | "keys") => Buffer.concat(encoded.map((bytes) => bytes[part]));
      const reader = new TotalsReader({ counts: joined("counts"), keys: joined("keys") });
      for (const { failed } of [one, other]) {
        const quarters = { views: [] as number[], bookings: [] as number[] };
        const onQuarter = {
          onViews: (quarter: number) => quarters.views.push(quarter),
          onBookings: (quarter: number) => quarters.bookings.push(quarter),
        };
        assert.ok(reader.hasMore);
        assert.equal(reader.take(onQuarter, lists).failed, failed);
        for (const each of [quarters.views, quarters.bookings])
          assert.deepEqual(
            each,
            each.toSorted((a, b) => a - b),
          );
      }
      assert.ok(!reader.hasMore);
      for (const dimension of wanted) assert.deepEqual(lists.get(dimension), addLists(one, other, dimension));
      assert.equal(lists.size, wanted.length);
    }),
  );
});

test("a day with 600 keys takes about 11 bytes for each", () => {
  const totals = createTotals();
  for (let id = 0; id < 600; id++) totals.keys.get("source")?.set(2 ** 50 + id, { views: 100, bookings: 3 });
  assert.ok(encodeTotals(totals).keys.length < 11 * 600);
});

function someTotals(): fc.Arbitrary<Totals> {
  const count = fc.oneof(
    fc.nat(200),
    fc.maxSafeNat().map((n) => Math.floor(n / 4)),
  );
  const quarter = fc.oneof(fc.integer({ min: OLDEST, max: LATEST }), fc.integer({ min: LATEST - 96, max: LATEST }));
  const series = fc.array(fc.tuple(quarter, count), { maxLength: 40 }).map((entries) => new Map(entries));
  const { reached, leadTimes } = createTotals();
  const counts = (length: number) => fc.array(count, { minLength: length, maxLength: length });
  const list = (dimension: Dimension) => {
    const value = isKeyed(dimension)
      ? fc.maxSafeNat()
      : fc.oneof(fc.constant("w_1"), fc.string({ unit: "grapheme", maxLength: 300 }));
    return fc
      .array(
        fc.tuple<[number | string, { views: number; bookings: number }]>(
          value,
          fc.record({ views: fc.nat(5_000).map((n) => n + 1), bookings: count }, { noNullPrototype: true }),
        ),
        { maxLength: 12 },
      )
      .map((entries) => new Map(entries));
  };
  return fc.record({
    views: series,
    bookings: series,
    reached: counts(reached.length),
    noAvailability: count,
    failed: count,
    leadMs: count,
    leadTimes: counts(leadTimes.length),
    keys: fc
      .tuple(...DIMENSIONS.map(list))
      .map((lists) => new Map(DIMENSIONS.map((dimension, i) => [dimension, lists[i] ?? new Map()]))),
  });
}

function addLists(one: Totals, other: Totals, dimension: Dimension): KeyCounts {
  const sum: KeyCounts = new Map(one.keys.get(dimension));
  for (const [key, { views, bookings }] of other.keys.get(dimension) ?? []) {
    const known = sum.get(key) ?? { views: 0, bookings: 0 };
    sum.set(key, { views: known.views + views, bookings: known.bookings + bookings });
  }
  return sum;
}

/** However the series are ordered. */
function toPlain({ views, bookings, ...totals }: Totals) {
  const sorted = (series: ReadonlyMap<number, number>) => [...series].sort(([a], [b]) => a - b);
  return { ...totals, views: sorted(views), bookings: sorted(bookings) };
}
