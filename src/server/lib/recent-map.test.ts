import assert from "node:assert/strict";
import { test } from "node:test";
import { RecentMap } from "./recent-map.ts";

test("recently used values are kept, up to twice the capacity", () => {
  const recent = new RecentMap<number, string>(10);
  for (let key = 0; key < 1000; key++) {
    recent.set(key, `value ${key}`);
    assert.equal(recent.get(0), "value 0");
  }
  for (const key of [0, 991, 992, 993, 994, 995, 996, 997, 998, 999]) assert.equal(recent.get(key), `value ${key}`);
  const kept = Array.from({ length: 1000 }, (_, key) => key).filter((key) => recent.get(key) !== undefined);
  assert.ok(kept.length <= 20);
});

test("setting a value again replaces the earlier one", () => {
  const recent = new RecentMap<string, number>(2);
  recent.set("a", 1);
  recent.set("b", 1);
  recent.set("c", 1);
  recent.set("a", 2);
  assert.equal(recent.get("a"), 2);
});
