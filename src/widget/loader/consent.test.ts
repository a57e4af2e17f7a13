import assert from "node:assert/strict";
import { test } from "node:test";
import { type ConsentChoice, decidePermission, type Permission } from "./consent.ts";

// biome-ignore format: one case a line
const CASES: [mode: string, choice: ConsentChoice | undefined, permission: Permission][] = [
  ["", undefined, "stored"], ["auto", undefined, "stored"], ["auto", "granted", "all"], ["auto", "denied", "page"],
  ["required", undefined, "waiting"], ["required", "granted", "all"], ["required", "denied", "page"],
  ["off", undefined, "page"], ["off", "granted", "page"], ["off", "denied", "page"],
  // A misspelt mode.
  ["require", undefined, "waiting"], ["none", undefined, "waiting"],
];

for (const [mode, response, permission] of CASES) {
  test(`mode "${mode}" and ${response ?? "no answer"}: ${permission}`, () =>
    assert.equal(decidePermission(mode, response, {}), permission));
}

for (const signals of [{ globalPrivacyControl: true }, { doNotTrack: "1" }]) {
  test(`${JSON.stringify(signals)} overrides every mode and answer`, () => {
    for (const [mode, response] of CASES) assert.equal(decidePermission(mode, response, signals), "page");
  });
}

test("a signal turned off is ignored", () => {
  const signals = { globalPrivacyControl: false, doNotTrack: "0" };
  assert.equal(decidePermission("auto", undefined, signals), "stored");
  assert.equal(decidePermission("auto", undefined, { doNotTrack: "unspecified" }), "stored");
});
