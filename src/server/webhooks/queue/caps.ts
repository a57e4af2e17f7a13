import { PLANS, type Plan, planIncludes } from "#contract/plans.ts";
import type { ClaimCaps } from "./claim.ts";

/** Of one worker. */
export const REQUESTS_AT_ONCE_MAX = 256;

export const CAPS: ClaimCaps = {
  perEndpoint: 10,
  perCarefulEndpoint: 1,
  failingAfter: 3,
  toFailing: REQUESTS_AT_ONCE_MAX / 4,
  perOrganization: REQUESTS_AT_ONCE_MAX / 4,
};

export const PLANS_WITH_WEBHOOKS: readonly Plan[] = PLANS.filter((plan) => planIncludes(plan, "webhooks"));
