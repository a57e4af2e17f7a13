import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { REPLY_KEPT_BYTES, toReplyText } from "./reply-reader.ts";

test("a short reply is kept unchanged", () => {
  assert.deepEqual(toReplyText(Buffer.from("thanks, Zoë 🎉"), true), { text: "thanks, Zoë 🎉", truncated: false });
  assert.deepEqual(toReplyText(Buffer.alloc(0), true), { text: "", truncated: false });
});

test("invalid UTF-8 and NUL are replaced, so that PostgreSQL accepts the text", () => {
  assert.deepEqual(toReplyText(Buffer.from([0x61, 0xff, 0x00, 0xc3, 0x28, 0xf0, 0x9f]), true), {
    text: "a\ufffd\ufffd\ufffd(\ufffd",
    truncated: false,
  });
});

test("a long reply is cut between characters and marked as truncated", () => {
  const long = Buffer.from(`${"a".repeat(REPLY_KEPT_BYTES - 1)}é and more`);
  assert.deepEqual(toReplyText(long.subarray(0, REPLY_KEPT_BYTES), false), {
    text: "a".repeat(REPLY_KEPT_BYTES - 1),
    truncated: true,
  });
});

test("replacement characters do not push the stored text over its limit", () => {
  const { text, truncated } = toReplyText(Buffer.alloc(REPLY_KEPT_BYTES, 0xff), true);
  assert.deepEqual([text, truncated], ["\ufffd".repeat(1_365), true]);
});

test("for any bytes the stored text fits, is well formed and contains no NUL", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 6_000 }), fc.boolean(), (bytes, isWhole) => {
      const { text } = toReplyText(Buffer.from(bytes), isWhole);
      assert.ok(Buffer.byteLength(text) <= REPLY_KEPT_BYTES && text.isWellFormed() && !text.includes("\0"));
    }),
  );
});
