import type { EndpointHealth } from "./report-queries.ts";

// When an endpoint is switched off, and when its owner is told. One success clears everything.
//
//   gone      it answered 410 (webhook), or a chat says the channel is archived: at once
//   refused   a chat answered 401, 403 or 404 to three deliveries in a row: at once
//   failing   no success for 5 days, at least one delivery given up and 10 attempts failed; told a day before

const HOUR_MS = 3_600_000;
const FAILING_MS_MAX = 5 * 24 * HOUR_MS;
const WARNING_MS = 24 * HOUR_MS;
const FAILED_ATTEMPTS_MIN = 10;
const REFUSED_DELIVERIES_MAX = 3;

export type HealthVerdict =
  | { kind: "well" }
  | { kind: "exhausted" }
  | { kind: "disabling_soon" }
  | { kind: "disable"; reason: "gone" | "failing" };

export function judgeHealth(health: EndpointHealth, now: Date): HealthVerdict {
  if (health.is_gone) return { kind: "disable", reason: "gone" };
  if (health.refused_deliveries >= REFUSED_DELIVERIES_MAX) return { kind: "disable", reason: "failing" };
  if (health.failing_since === null || health.exhausted_deliveries === 0) return { kind: "well" };
  const failingMs = now.getTime() - health.failing_since.getTime();
  const hasEnough = health.failed_attempts >= FAILED_ATTEMPTS_MIN;
  if (hasEnough && failingMs >= FAILING_MS_MAX) return { kind: "disable", reason: "failing" };
  if (hasEnough && failingMs >= FAILING_MS_MAX - WARNING_MS) return { kind: "disabling_soon" };
  return { kind: "exhausted" };
}

/** What the owner reads. */
export function describeVerdict(verdict: Exclude<HealthVerdict, { kind: "well" }>, health: EndpointHealth): string {
  const last = health.last_status === null ? "no answer" : `status ${health.last_status}`;
  switch (verdict.kind) {
    case "exhausted":
      return `A delivery did not arrive and is not tried again; its last attempt got ${last}.`;
    case "disabling_soon":
      return `No delivery has arrived for four days (the last attempt got ${last}). Tomorrow the endpoint is switched off.`;
    case "disable":
      return verdict.reason === "gone"
        ? `The receiver said that it is gone for good (${last}); the endpoint was switched off.`
        : `Deliveries kept failing (the last attempt got ${last}); the endpoint was switched off.`;
    default:
      return verdict satisfies never;
  }
}
