import type { ApiErrorCode } from "#contract/api-error.ts";
import { ENDPOINT_TESTS_PER_MINUTE_MAX } from "#contract/endpoint.ts";
import { describeCap } from "../../organizations/organizations.ts";
import type { RedeliverRefusal } from "../log/redeliver.ts";
import type { RetryRefusal } from "../log/retry.ts";
import type { Refusal } from "./endpoints.ts";

// Refusals as sentences, shared by the command line and the dashboard API. Each words "not found" and faults of fields itself.

const PLAN_REQUIRED = "Webhooks require the Pro or Business plan. Ask the operator to change the plan.";
const ENDPOINT_OFF = "This endpoint is off. Turn it on first.";

export function describeRefusal(refusal: Exclude<Refusal, { kind: "not_found" | "invalid" }>): string {
  switch (refusal.kind) {
    case "plan_required":
      return PLAN_REQUIRED;
    case "url_refused":
      return refusal.reason;
    case "no_secret":
      return "Teams and Slack endpoints have no signing secret.";
    case "too_many":
      return describeCap("endpoints", refusal.most);
    case "disabled":
      return ENDPOINT_OFF;
    case "too_many_tests":
      return `You can send ${ENDPOINT_TESTS_PER_MINUTE_MAX} test events per minute. Try again in a minute.`;
    default:
      return refusal satisfies never;
  }
}

/** The error's code and sentence. */
export const RETRY_REFUSALS: Readonly<
  Record<Exclude<RetryRefusal["kind"], "not_found">, readonly [code: ApiErrorCode, sentence: string]>
> = {
  not_waiting: ["conflict", "This delivery is finished. Redeliver it instead."],
  in_flight: ["already_queued", "This delivery is being sent right now."],
  disabled: ["endpoint_disabled", "This delivery's endpoint is off. Turn it on first."],
};

export const REDELIVER_REFUSALS: Readonly<Record<Exclude<RedeliverRefusal["kind"], "not_found">, string>> = {
  plan_required: PLAN_REQUIRED,
  already_queued: "This delivery is already queued.",
  endpoint_removed: "This delivery's endpoint was deleted.",
  endpoint_disabled: "This delivery's endpoint is off. Turn it on first.",
  payload_erased: "This delivery's booking was erased, so there is nothing left to send.",
};

export const BULK_REDELIVER_REFUSALS: Readonly<Record<"plan_required" | "endpoint_disabled", string>> = {
  plan_required: PLAN_REQUIRED,
  endpoint_disabled: ENDPOINT_OFF,
};
