import { ENDPOINTS_PER_ORGANIZATION_MAX } from "#contract/endpoint.ts";
import type { RedeliverRefusal } from "../log/redeliver.ts";
import type { Refusal } from "./endpoints.ts";

// Refusals as sentences, for the command line and the dashboard alike. "No such …" is said by each in its own way.

const PLAN_REQUIRED = "Webhooks require the Pro or Business plan.";

export function describeRefusal(refusal: Exclude<Refusal, { kind: "not_found" }>): string {
  switch (refusal.kind) {
    case "plan_required":
      return PLAN_REQUIRED;
    case "url_refused":
      return refusal.reason;
    case "too_many":
      return `An organization can have at most ${ENDPOINTS_PER_ORGANIZATION_MAX} endpoints.`;
    case "disabled":
      return "The endpoint is disabled.";
    default:
      return refusal satisfies never;
  }
}

export const REDELIVER_REFUSALS: Readonly<Record<Exclude<RedeliverRefusal["kind"], "not_found">, string>> = {
  plan_required: PLAN_REQUIRED,
  under_way: "The delivery waits, or is being sent, already.",
  endpoint_removed: "The delivery's endpoint was removed.",
  endpoint_disabled: "The delivery's endpoint is disabled.",
  payload_erased: "The delivery's booking was erased; there is nothing left to send.",
};
