import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { BASE62 } from "#contract/ids.ts";
import { systemRandom } from "../lib/secrets/random.ts";
import { hashApiKey, isApiKey, makeApiKey, toDisplayParts } from "./token.ts";

const KEY = makeApiKey({ bytes: (count) => Buffer.alloc(count, 1) });

test("a key is svc_live_ and 40 letters and digits", () => {
  assert.match(makeApiKey(systemRandom), /^svc_live_[0-9A-Za-z]{40}$/);
  assert.notEqual(makeApiKey(systemRandom), makeApiKey(systemRandom));
});

test("a new key is valid", () => {
  for (let i = 0; i < 100; i++) assert.equal(isApiKey(makeApiKey(systemRandom)), true);
});

test("a key with any one character changed is invalid", () => {
  for (let place = 0; place < KEY.length; place++) {
    for (const other of [...BASE62, "-", " ", "é"]) {
      if (other === KEY[place]) continue;
      const mistyped = KEY.slice(0, place) + other + KEY.slice(place + 1);
      assert.equal(isApiKey(mistyped), false, mistyped);
    }
  }
});

for (const [what, text] of [
  ["nothing", ""],
  ["the prefix alone", "svc_live_"],
  ["a shorter one", KEY.slice(0, -1)],
  ["a longer one", `${KEY}0`],
  ["a second line", `${KEY}\n`],
  ["another prefix", KEY.replace("svc_live_", "svc_test_")],
  ["the prefix in capitals", KEY.replace("svc_live_", "SVC_LIVE_")],
] as const) {
  test(`${what} is not a valid key`, () => {
    assert.equal(isApiKey(text), false);
  });
}

test("a key is stored as its SHA-256 hash", () => {
  assert.deepEqual(hashApiKey(KEY), createHash("sha256").update(KEY, "ascii").digest());
});

test("lists show the first and last four characters of a key", () => {
  assert.deepEqual(toDisplayParts(KEY), { first: KEY.slice(9, 13), last: KEY.slice(-4) });
});
