import assert from "node:assert/strict";
import { test } from "node:test";
import type { Feature, Plan } from "#contract/plans.ts";
import { runInDistantTimeZone } from "../../../test/support/time-zone.ts";
import { ApiError } from "../http/errors/api-error.ts";
import { requireFeature, toKeptSince } from "./plan.ts";

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

// Retention is counted in UTC, whatever the server's own zone.
runInDistantTimeZone();

const CUTOFFS: readonly [plan: Plan, now: string, cutoff: string][] = [
  ["free", "2026-11-01T12:00:00.000Z", "2026-10-02T12:00:00.000Z"],
  ["free", "2028-03-01T00:00:00.000Z", "2028-01-31T00:00:00.000Z"],
  ["pro", "2026-11-01T12:00:00.001Z", "2025-11-01T12:00:00.001Z"],
  ["pro", "2028-02-29T23:59:59.999Z", "2027-02-28T23:59:59.999Z"],
  ["business", "2026-11-01T12:00:00.000Z", "2024-11-01T12:00:00.000Z"],
  ["business", "2026-03-08T02:30:00.000Z", "2024-03-08T02:30:00.000Z"],
  ["business", "2028-02-29T12:00:00.000Z", "2026-02-28T12:00:00.000Z"],
  ["business", "2030-02-28T12:00:00.000Z", "2028-02-28T12:00:00.000Z"],
];

for (const [plan, now, cutoff] of CUTOFFS) {
  test(`the ${plan} plan's retention at ${now} starts at ${cutoff}`, () => {
    assert.equal(toKeptSince(plan, new Date(now)).toISOString(), cutoff);
  });
}
