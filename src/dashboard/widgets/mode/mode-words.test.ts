import assert from "node:assert/strict";
import { test } from "node:test";
import { describeGoLive, describeMode } from "./mode-words.ts";

const TEST = { mode: "test", connectionId: null } as const;
const LIVE = { name: "Website", mode: "live", status: "active", connectionId: "con_1" } as const;

test("a paused widget is not just said to be live", () => {
  assert.equal(describeMode(LIVE), "live");
  assert.equal(describeMode({ ...LIVE, status: "paused" }), "live but paused");
  assert.equal(describeMode({ mode: "test", status: "paused" }), "in test mode and paused");
});

test("the toast names the new mode, or else what happened to the connection", () => {
  assert.equal(describeGoLive(TEST, LIVE), "Website is live");
  assert.equal(describeGoLive(TEST, { ...LIVE, status: "paused" }), "Website is live but paused");
  assert.equal(describeGoLive(LIVE, { ...LIVE, connectionId: "con_2" }), "Connection changed");
  assert.equal(describeGoLive(LIVE, LIVE), "Connection checked");
});
