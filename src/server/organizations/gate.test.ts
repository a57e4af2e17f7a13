import assert from "node:assert/strict";
import { test } from "node:test";
import type { Feature, Plan } from "#contract/plans.ts";
import { ApiError } from "../http/api-error.ts";
import { requireFeature } from "./gate.ts";

const REFUSALS: Readonly<Record<Feature, string>> = {
  readApi: "The read API requires the Business plan. Ask the operator to change the plan.",
  webhooks: "Webhooks require the Pro or Business plan. Ask the operator to change the plan.",
  csvExport: "CSV export requires the Pro or Business plan. Ask the operator to change the plan.",
};

const GATES: readonly [plan: Plan, feature: Feature, isOpen: boolean][] = [
  ["free", "readApi", false],
  ["pro", "readApi", false],
  ["business", "readApi", true],
  ["free", "webhooks", false],
  ["pro", "webhooks", true],
  ["business", "webhooks", true],
  ["free", "csvExport", false],
  ["pro", "csvExport", true],
  ["business", "csvExport", true],
];

for (const [plan, feature, isOpen] of GATES) {
  test(`the plan ${plan} ${isOpen ? "includes" : "does not include"} ${feature}`, () => {
    if (isOpen) requireFeature(plan, feature);
    else assert.throws(() => requireFeature(plan, feature), new ApiError("plan_required", REFUSALS[feature]));
  });
}
