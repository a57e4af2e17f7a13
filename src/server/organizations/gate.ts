import { type Feature, PLAN_TERMS, PLANS, type Plan, planIncludes } from "#contract/plans.ts";
import { ApiError } from "../http/api-error.ts";

const REFUSALS: Readonly<Record<Feature, string>> = {
  readApi: "The read API requires",
  webhooks: "Webhooks require",
  csvExport: "CSV export requires",
};

export function requireFeature(plan: Plan, feature: Feature): void {
  if (planIncludes(plan, feature)) return;
  const plans = PLANS.filter((candidate) => planIncludes(candidate, feature)).map((each) => PLAN_TERMS[each].name);
  throw new ApiError(
    "plan_required",
    `${REFUSALS[feature]} the ${plans.join(" or ")} plan. Ask the operator to change the plan.`,
  );
}
