import assert from "node:assert/strict";
import { test } from "node:test";
import { systemRandom } from "./random.ts";
import { createSealer, rememberOpened } from "./sealed.ts";

const SECRET = "cal_live_2f6d";

const sealer = createSealer({ random: systemRandom }, { secretKey: "correct horse", purpose: "credentials" });

test("a sealed text opens for its own id", () => {
  assert.equal(sealer.open("conn_1", sealer.seal("conn_1", SECRET)), SECRET);
});

test("a sealed text does not open for another id, another purpose or another key", () => {
  const sealed = sealer.seal("conn_1", SECRET);
  const otherPurpose = createSealer({ random: systemRandom }, { secretKey: "correct horse", purpose: "other" });
  const otherKey = createSealer({ random: systemRandom }, { secretKey: "correct house", purpose: "credentials" });
  assert.equal(sealer.open("conn_2", sealed), null);
  assert.equal(otherPurpose.open("conn_1", sealed), null);
  assert.equal(otherKey.open("conn_1", sealed), null);
});

test("a sealed text with any one bit changed, or cut short anywhere, does not open", () => {
  const sealed = sealer.seal("conn_1", SECRET);
  for (let bit = 0; bit < sealed.length * 8; bit++) {
    const damaged = Buffer.from(sealed);
    damaged.writeUInt8(damaged.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
    assert.equal(sealer.open("conn_1", damaged), null, `bit ${bit}`);
  }
  for (let length = 0; length < sealed.length; length++) {
    assert.equal(sealer.open("conn_1", sealed.subarray(0, length)), null, `${length} bytes`);
  }
});

test("the same text sealed twice gives different bytes, and neither shows the text", () => {
  const [first, second] = [sealer.seal("conn_1", SECRET), sealer.seal("conn_1", SECRET)];
  assert.notDeepEqual(first, second);
  assert.equal(first.includes(SECRET), false);
});

test("the stored format is fixed, and signing secrets use the same one", () => {
  const fixed = { bytes: (count: number) => Buffer.alloc(count, 7) };
  const options = { secretKey: "key", purpose: "webhook signing secrets, version 1" };
  const sealed = createSealer({ random: fixed }, options).seal("we_1111111111111111", "whsec_x");
  assert.equal(sealed.toString("hex"), "0107070707070707070707070710e1883cb43b359c2a240f853baa46db9d770e15a4422f");
});

test("a remembered text still opens for its own id only, and another sealed text is opened anew", () => {
  const remembering = rememberOpened(sealer, 10);
  const [first, second] = [sealer.seal("conn_1", SECRET), sealer.seal("conn_1", "another")];
  for (let time = 0; time < 2; time++) {
    assert.equal(remembering.open("conn_1", first), SECRET);
    assert.equal(remembering.open("conn_1", second), "another");
    assert.equal(remembering.open("conn_2", first), null);
  }
});
