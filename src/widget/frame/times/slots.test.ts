import assert from "node:assert/strict";
import { test } from "node:test";
import type { FreeSlot } from "#contract/widgets/embed-api.ts";
import { RANGE_MAX_MS, replaceSlots, splitRange, withoutTaken } from "./slots.ts";

const HOUR_MS = 3_600_000;
const slotAt = (hour: number, staffIds: string[] = []): FreeSlot => ({
  start: new Date(hour * HOUR_MS).toISOString(),
  end: new Date((hour + 1) * HOUR_MS).toISOString(),
  staffIds,
});
const hoursOf = (slots: readonly FreeSlot[]) => slots.map(({ start }) => Date.parse(start) / HOUR_MS);

test("a month one hour longer than 31 days is requested in two parts, without a gap", () => {
  assert.deepEqual(splitRange({ fromMs: 0, toMs: RANGE_MAX_MS }), [{ fromMs: 0, toMs: RANGE_MAX_MS }]);
  assert.deepEqual(splitRange({ fromMs: 0, toMs: RANGE_MAX_MS + HOUR_MS }), [
    { fromMs: 0, toMs: RANGE_MAX_MS },
    { fromMs: RANGE_MAX_MS, toMs: RANGE_MAX_MS + HOUR_MS },
  ]);
  assert.deepEqual(splitRange({ fromMs: 5, toMs: 5 }), []);
});

test("fresh slots replace the known ones in their range, in order and once each", () => {
  const known = [1, 2, 3, 9].map((hour) => slotAt(hour));
  const fresh = [slotAt(3, ["a"]), slotAt(2.5)];
  assert.deepEqual(hoursOf(replaceSlots(known, { fromMs: 2 * HOUR_MS, toMs: 4 * HOUR_MS }, fresh)), [1, 2.5, 3, 9]);
});

test("a taken slot is removed, and fresh slots also remove others taken meanwhile", () => {
  const known = [1, 2, 3, 4, 9].map((hour) => slotAt(hour));
  const { start } = slotAt(2);
  assert.deepEqual(hoursOf(withoutTaken(known, { start, fresh: [] })), [1, 3, 4, 9]);
  assert.deepEqual(hoursOf(withoutTaken(known, { start, fresh: [slotAt(1), slotAt(4)] })), [1, 4, 9]);
  assert.deepEqual(hoursOf(withoutTaken(known, { start, fresh: [slotAt(1), slotAt(2), slotAt(4)] })), [1, 4, 9]);
});
