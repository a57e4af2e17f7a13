import assert from "node:assert/strict";
import { test } from "node:test";
import { describeAttempt } from "./delivery.ts";

test("a card that Teams accepted may still fail later, so the words don't promise more", () => {
  assert.equal(describeAttempt({ kind: "teams", status: 202, errorCode: null }), "HTTP 202, accepted by Teams");
});

test("only Teams accepts with 202: elsewhere, and with another status, the status says it all", () => {
  for (const [kind, status] of [
    ["teams", 200],
    ["slack", 202],
    ["webhook", 202],
  ] as const)
    assert.equal(describeAttempt({ kind, status, errorCode: null }), `HTTP ${status}`, kind);
});

test("what is wrong with a response that isn't valid HTTP is said with it", () => {
  const attempt = { kind: "webhook", errorCode: "invalid_response", responseFault: "Missing expected CR" } as const;
  assert.equal(describeAttempt({ ...attempt, status: null }), "Not a valid HTTP response (Missing expected CR)");
});
