import assert from "node:assert/strict";
import { test } from "node:test";
import { systemRandom } from "./random.ts";

test("the requested number of bytes is returned, and no two calls return the same", () => {
  const seen = new Set<string>();
  for (let n = 0; n < 5_000; n++) {
    for (const count of [16, 15, 6]) {
      const bytes = systemRandom.bytes(count);
      assert.equal(bytes.length, count);
      seen.add(bytes.toString("hex"));
    }
  }
  assert.equal(seen.size, 15_000);
  assert.deepEqual(
    [systemRandom.bytes(0).length, systemRandom.bytes(1).length, systemRandom.bytes(32).length],
    [0, 1, 32],
  );
});

test("returned bytes belong to the caller alone", () => {
  const first = systemRandom.bytes(16);
  const text = first.toString("hex");
  for (let n = 0; n < 1_000; n++) systemRandom.bytes(16).fill(0);
  assert.equal(first.toString("hex"), text);
});

test("every byte value occurs about equally often", () => {
  const counts = new Array<number>(256).fill(0);
  for (let n = 0; n < 20_000; n++) for (const byte of systemRandom.bytes(16)) counts[byte] = (counts[byte] ?? 0) + 1;
  assert.ok(
    Math.min(...counts) > 1_000 && Math.max(...counts) < 1_500,
    `${Math.min(...counts)} to ${Math.max(...counts)}`,
  );
});
