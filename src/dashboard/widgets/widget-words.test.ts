import assert from "node:assert/strict";
import { test } from "node:test";
import { PLANS } from "#contract/plans.ts";
import { describeOutputs, describeStorageUses } from "./widget-words.ts";

test("only what the plan includes is said about stored bookings", () => {
  assert.deepEqual(
    PLANS.map((plan) => [plan, describeStorageUses(plan), describeOutputs(plan)]),
    [
      ["free", "the bookings list", ""],
      ["pro", "the bookings list, exports and webhooks", "exports"],
      ["business", "the bookings list, exports, the read API and webhooks", "exports and the read API"],
    ],
  );
});
