import { PLANS, type Plan, planIncludes } from "#contract/plans.ts";
import type { ClaimCaps } from "./claim-queries.ts";

/** Requests that one worker has in flight at most. */
export const PLACES = 256;

export const CAPS: ClaimCaps = {
  perEndpoint: 10,
  perCarefulEndpoint: 1,
  failingAfter: 3,
  toFailing: PLACES / 4,
  perOrganization: PLACES / 4,
};

export const PLANS_WITH_WEBHOOKS: readonly Plan[] = PLANS.filter((plan) => planIncludes(plan, "webhooks"));
