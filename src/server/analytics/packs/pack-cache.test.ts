import assert from "node:assert/strict";
import { test } from "node:test";
import { PackCache } from "./pack-cache.ts";
import { NO_VISITS, toPack } from "./visit-pack.ts";

test("the packs used last are kept, as far as there is room", () => {
  const cache = new PackCache(100_000);
  const packs = [0, 1, 2, 3].map((dayMs) => toPack(dayMs, NO_VISITS));
  const keep = (n: number) => cache.keep(`pack ${n}`, { pack: packs[n] as (typeof packs)[number], bytes: 25_000 });
  const find = (n: number) => cache.find(`pack ${n}`)?.dayMs;
  for (const n of [0, 1, 2]) keep(n);
  assert.deepEqual([find(1), find(2), find(0)], [1, 2, 0]);
  keep(3);
  assert.deepEqual([find(0), find(1), find(2), find(3)], [0, undefined, 2, 3]);
  for (let again = 0; again < 9; again++) keep(3);
  assert.deepEqual([find(0), find(2), find(3)], [0, 2, 3]);
});

test("a window that would take more than half of the room is not kept", () => {
  const cache = new PackCache(100_000);
  assert.equal(cache.hasRoomFor({ packs: 2, bytes: 38_000 }), true);
  assert.equal(cache.hasRoomFor({ packs: 2, bytes: 38_001 }), false);
});
