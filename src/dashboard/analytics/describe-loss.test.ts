import assert from "node:assert/strict";
import { test } from "node:test";
import { describeNoLoss } from "./report-words.ts";

test("nothing lost is a success only if there were views or attempts", () => {
  const text = "Every visitor who looked found an available time.";
  assert.deepEqual(describeNoLoss({ count: 0, of: 3, unit: "views" }), { isSuccess: true, text });
  assert.deepEqual(describeNoLoss({ count: 0, of: 0, unit: "views" }), {
    isSuccess: false,
    text: "No views in this period.",
  });
  assert.deepEqual(describeNoLoss({ count: 0, of: 0, unit: "attempts" }), {
    isSuccess: false,
    text: "No booking attempts in this period.",
  });
  assert.equal(describeNoLoss({ count: 1, of: 3, unit: "attempts" }), null);
});
