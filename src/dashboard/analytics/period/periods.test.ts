import assert from "node:assert/strict";
import { test } from "node:test";
import { describePeriod } from "./periods.ts";

test("a period is called by its preset's name, its days or their number", () => {
  const describe = (chosen: object) => describePeriod({ period: "", days: "30", from: "", to: "", ...chosen });
  assert.equal(describe({}), "Last 30 days");
  assert.equal(describe({ period: "last-month" }), "Last month");
  assert.equal(describe({ days: "12" }), "Last 12 days");
  assert.equal(describe({ days: "1" }), "Today");
  assert.equal(
    describe({ from: "2026-11-01", to: "2026-11-01" }),
    new Date("2026-11-01").toLocaleDateString(undefined, { dateStyle: "medium", timeZone: "UTC" }),
  );
});
