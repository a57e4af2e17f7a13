import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { DAY_MS } from "#contract/durations.ts";
import type { KeyKind } from "../record/key-id.ts";
import {
  type Conversions,
  decodePack,
  encodePack,
  PACK_VISITS_MAX,
  toPack,
  toRecord,
  type VisitColumns,
} from "./visit-pack.ts";

const DAY = Date.parse("2026-11-01");

test("a pack is the same after it was saved and read", () => {
  fc.assert(
    fc.property(fc.array(visitRow(), { maxLength: 30 }), (rows) => {
      const pack = toPack(DAY, toColumns(rows));
      assert.deepEqual(decodePack(DAY, encodePack(pack)), withNumbers(pack));
    }),
  );
});

test("a pack with few values takes about 13 bytes per visit; one with many different ones is read correctly", () => {
  const rowOf = (n: number): VisitRow => ({
    ...{ widget_id: "w_1", started_ms: DAY + n, stage: 2, bookings: null, failures: null },
    ...{ channel: 1, source: n, campaign: n % 300, page: n % 256, device: 2, country: 3 },
  });
  const alike = Array.from({ length: PACK_VISITS_MAX }, (_, n) => ({ ...rowOf(n % 50), started_ms: DAY + n }));
  assert.ok(encodePack(toPack(DAY, toColumns(alike))).length < 13 * PACK_VISITS_MAX);

  const different = toPack(DAY, toColumns(Array.from({ length: PACK_VISITS_MAX }, (_, n) => rowOf(n))));
  assert.deepEqual(
    Object.values(different.keys).map(({ places }) => places.constructor.name),
    ["Uint8Array", "Uint16Array", "Uint16Array", "Uint8Array", "Uint8Array", "Uint8Array"],
  );
  assert.deepEqual(decodePack(DAY, encodePack(different)), withNumbers(different));
});

test("one visit may have any number of bookings of different services", () => {
  const bookings = Object.fromEntries(
    Array.from({ length: 70_000 }, (_, n) => [`b${n}`, [DAY + n, null, `Service ${n}`]] as const),
  );
  const keys = { channel: 1, source: 2, campaign: 3, page: 4, device: 5, country: 6 };
  const row = { ...keys, widget_id: "w_1", started_ms: DAY, stage: 12, bookings, failures: null };
  const { bookings: read } = decodePack(DAY, encodePack(toPack(DAY, toColumns([row]))));
  assert.equal(read.services.places.constructor.name, "Uint32Array");
  assert.equal(read.services.values[read.services.places[69_999] as number], "Service 69999");
});

type VisitRow = Record<KeyKind, number> & {
  widget_id: string;
  started_ms: number;
  stage: number;
  bookings: Conversions | null;
  failures: Conversions | null;
};

function toColumns(rows: readonly VisitRow[]): VisitColumns {
  return {
    startedMs: Float64Array.from(rows, ({ started_ms }) => started_ms),
    stages: Float64Array.from(rows, ({ stage }) => stage),
    keys: toRecord((kind) => Float64Array.from(rows, (row) => row[kind])),
    widgets: rows.map(({ widget_id }) => widget_id),
    bookings: rows.flatMap(({ bookings }, visit) => listConversions(bookings, visit)),
    failures: rows.flatMap(({ failures }, visit) => listConversions(failures, visit)),
  };
}

function listConversions(conversions: Conversions | null, visit: number): VisitColumns["bookings"] {
  return Object.values(conversions ?? {}).map((times) => ({ visit, times }));
}

/** Keys are read as numbers in place. */
function withNumbers(pack: ReturnType<typeof toPack>): ReturnType<typeof toPack> {
  const keys = Object.entries(pack.keys).map(([kind, { places, values }]) => [
    kind,
    { places, values: Float64Array.from(values) },
  ]);
  return { ...pack, keys: Object.fromEntries(keys) as typeof pack.keys };
}

function visitRow(): fc.Arbitrary<VisitRow> {
  const key = fc.oneof(fc.nat(3), fc.maxSafeNat());
  const atMs = fc.integer({ min: DAY, max: DAY + 90 * DAY_MS });
  const times = fc.oneof(
    fc.tuple(atMs, fc.option(fc.nat())),
    fc.tuple(atMs, fc.option(fc.nat()), fc.string({ unit: "grapheme" })),
  );
  const conversions = fc.option(fc.dictionary(fc.string(), times, { maxKeys: 3, noNullPrototype: true }));
  return fc.record({
    ...{ channel: key, source: key, campaign: key, page: key, device: key, country: key },
    widget_id: fc.constantFrom("w_1", "w_2"),
    started_ms: fc.integer({ min: DAY, max: DAY + DAY_MS - 1 }),
    stage: fc.integer({ min: 2, max: 13 }),
    bookings: conversions,
    failures: conversions,
  });
}
