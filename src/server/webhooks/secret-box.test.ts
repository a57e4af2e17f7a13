import assert from "node:assert/strict";
import { test } from "node:test";
import type { EndpointId } from "#contract/ids.ts";
import { type Random, systemRandom } from "../lib/random.ts";
import { createSecretBox } from "./secret-box.ts";

const ENDPOINT = "we_1111111111111111" as EndpointId;
const OTHER_ENDPOINT = "we_2222222222222222" as EndpointId;
const SECRET = "whsec_3q2-7wAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";

const box = createSecretBox({ random: systemRandom }, "correct horse battery staple");

test("a sealed secret opens for its own endpoint", () => {
  assert.equal(box.open(ENDPOINT, box.seal(ENDPOINT, SECRET)), SECRET);
});

test("a sealed secret put into another endpoint's row does not open", () => {
  assert.equal(box.open(OTHER_ENDPOINT, box.seal(ENDPOINT, SECRET)), null);
});

test("another SECRET_KEY opens nothing", () => {
  const otherBox = createSecretBox({ random: systemRandom }, "correct horse battery stapler");
  assert.equal(otherBox.open(ENDPOINT, box.seal(ENDPOINT, SECRET)), null);
});

test("a sealed secret with any one bit changed, or cut short anywhere, does not open", () => {
  const sealed = box.seal(ENDPOINT, SECRET);
  for (let bit = 0; bit < sealed.length * 8; bit++) {
    const damaged = Buffer.from(sealed);
    damaged.writeUInt8(damaged.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
    assert.equal(box.open(ENDPOINT, damaged), null, `bit ${bit}`);
  }
  for (let length = 0; length < sealed.length; length++) {
    assert.equal(box.open(ENDPOINT, sealed.subarray(0, length)), null, `${length} bytes`);
  }
});

test("the same secret sealed twice gives different bytes, and neither shows the secret", () => {
  const [first, second] = [box.seal(ENDPOINT, SECRET), box.seal(ENDPOINT, SECRET)];
  assert.notDeepEqual(first, second);
  assert.equal(first.includes("whsec_"), false);
});

test("the stored form is pinned, so that a later version still opens it", () => {
  const fixed: Random = { bytes: (count) => Buffer.alloc(count, 7) };
  const sealed = createSecretBox({ random: fixed }, "key").seal(ENDPOINT, "whsec_x");
  assert.equal(sealed.toString("hex"), "0107070707070707070707070710e1883cb43b359c2a240f853baa46db9d770e15a4422f");
});
