import { PLANS, type Plan, planIncludes } from "#contract/plans.ts";

/** Requests that one worker has in flight at once. */
export const REQUESTS_AT_ONCE_MAX = 256;

/** Limits on requests. Unless a comment says otherwise: in flight at once, across all workers. */
export const CAPS = {
  perEndpoint: 10,
  /**
   * To a chat; to an endpoint that is new, is failing, or whose last attempt failed; and to one that asked for a pause, which gets
   * only what someone retries by hand.
   */
  perCarefulEndpoint: 1,
  /** To a failing webhook whose deliveries are overdue; half of what an organization may have in flight. */
  perOverdueEndpoint: REQUESTS_AT_ONCE_MAX / 8,
  /** Started by one claim for such a webhook: requests that start together also time out together, and delay others. */
  perOverdueClaim: 4,
  /** An endpoint is failing after this many failed attempts in a row. */
  failingAfter: 3,
  /** To all failing endpoints together, so that many dead receivers leave room for the others. */
  toFailing: REQUESTS_AT_ONCE_MAX / 4,
  /** To all endpoints that are new, are failing, or whose last attempt failed. The other places are for those that answer. */
  toUnanswering: (REQUESTS_AT_ONCE_MAX / 4) * 3,
  /** Slack accepts about one message a second, Teams four; both block senders that exceed it. */
  chatRequestsPerMinute: 60,
  perOrganization: REQUESTS_AT_ONCE_MAX / 4,
} as const;

export const PLANS_WITH_WEBHOOKS: readonly Plan[] = PLANS.filter((plan) => planIncludes(plan, "webhooks"));
