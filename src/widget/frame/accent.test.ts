import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { CONTRAST_MIN, parseHex, toAccentColors, toContrast } from "./accent.ts";

const GROUNDS = ["#f2f2f2", "#1e2430"];

test("for any accent, text on it and text in it is readable on either background", () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 0xffffff }), fc.constantFrom(...GROUNDS), (value, ground) => {
      const colors = toAccentColors(`#${value.toString(16).padStart(6, "0")}`, ground);
      assert.ok(toContrast(parseHex(colors.onFill), parseHex(colors.fill)) >= CONTRAST_MIN);
      assert.ok(toContrast(parseHex(colors.ink), parseHex(ground)) >= CONTRAST_MIN);
    }),
    { numRuns: 2_000 },
  );
});

test("an accent that is already readable stays as the business chose it", () => {
  assert.deepEqual(toAccentColors("#4b45d6", "#ffffff"), { fill: "#4b45d6", onFill: "#ffffff", ink: "#4b45d6" });
  assert.equal(toAccentColors("#ffd400", "#ffffff").fill, "#ffd400");
  assert.equal(toAccentColors("#ffd400", "#ffffff").onFill, "#10131c");
});

test("contrast is measured as WCAG defines it", () => {
  assert.equal(toContrast([0, 0, 0], [255, 255, 255]), 21);
  assert.equal(toContrast([9, 9, 9], [9, 9, 9]), 1);
  assert.ok(Math.abs(toContrast(parseHex("#767676"), [255, 255, 255]) - 4.54) < 0.01);
});
