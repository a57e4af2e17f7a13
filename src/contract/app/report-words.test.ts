import assert from "node:assert/strict";
import { test } from "node:test";
import { describeMissingComparison } from "./report-words.ts";

test("an earlier period that has data for some of its days is not called one without data", () => {
  const describe = (dataSince: string | null) => describeMissingComparison({ to: "2026-10-31" }, dataSince);
  assert.equal(describe("2026-10-15"), "Not enough earlier data");
  assert.equal(describe("2026-10-31"), "Not enough earlier data");
  assert.equal(describe("2026-11-01"), "No earlier data");
  assert.equal(describe(null), "No earlier data");
});
