import assert from "node:assert/strict";
import { test } from "node:test";
import { ATTRIBUTION_TEXT_MAX, readAttribution } from "./attribution.ts";

test("over-long ids are dropped, and over-long names are cut", () => {
  const long = "x".repeat(ATTRIBUTION_TEXT_MAX + 1);
  const read = readAttribution({ gclid: long, fbc: long, gaClientId: long, utmSource: long, gadSource: "1" });
  assert.deepEqual(read, { utmSource: "x".repeat(ATTRIBUTION_TEXT_MAX), gadSource: "1" });
});
