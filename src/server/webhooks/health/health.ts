import { DAY_MS } from "#contract/durations.ts";
import type { EndpointHealth } from "../queue/report-queries.ts";

// When an endpoint is switched off, and when its owner is told. One success clears everything.
//
//   gone      it answered 410 (webhook), or a chat says the channel is archived: at once
//   refused   a chat answered 401, 403 or 404 to three deliveries in a row: at once
//   failing   no success for 5 days, at least one delivery given up and 10 attempts failed; but never before its owner has
//             known for a day. It is judged when an attempt fails, so with little to send that day may begin after the fifth.

const FAILING_MS_MAX = 5 * DAY_MS;
const WARNING_MS = DAY_MS;
const FAILED_ATTEMPTS_MIN = 10;
const REFUSED_DELIVERIES_MAX = 3;

export type HealthVerdict =
  | { kind: "well" }
  | { kind: "exhausted" }
  | { kind: "disabling_soon"; failingSince: Date; offAt: Date }
  | { kind: "disable"; reason: "gone" | "failing" };

/** `warnedAt`: when its owner was told, since it has been failing, that it will be switched off. */
export function judgeHealth(
  health: EndpointHealth,
  { now, warnedAt }: { now: Date; warnedAt: Date | null },
): HealthVerdict {
  if (health.is_gone) return { kind: "disable", reason: "gone" };
  if (health.refused_deliveries >= REFUSED_DELIVERIES_MAX) return { kind: "disable", reason: "failing" };
  const { failing_since: failingSince } = health;
  if (failingSince === null || health.exhausted_deliveries === 0) return { kind: "well" };
  if (!isFailingLong(health, now)) return { kind: "exhausted" };
  const warnedMs = (warnedAt ?? now).getTime();
  const offAt = new Date(Math.max(failingSince.getTime() + FAILING_MS_MAX, warnedMs + WARNING_MS));
  return now >= offAt ? { kind: "disable", reason: "failing" } : { kind: "disabling_soon", failingSince, offAt };
}

/** So long that its owner has to know what comes. */
export function isFailingLong(health: EndpointHealth, now: Date): boolean {
  if (health.failing_since === null || health.failed_attempts < FAILED_ATTEMPTS_MIN) return false;
  return now.getTime() - health.failing_since.getTime() >= FAILING_MS_MAX - WARNING_MS;
}

/** What the owner reads. */
export function describeVerdict(verdict: Exclude<HealthVerdict, { kind: "well" }>, health: EndpointHealth): string {
  const last = health.last_status === null ? "no answer" : `status ${health.last_status}`;
  switch (verdict.kind) {
    case "exhausted":
      return `A delivery did not arrive and is not tried again; its last attempt got ${last}.`;
    case "disabling_soon":
      return (
        `No delivery has arrived since ${toWords(verdict.failingSince)} (the last attempt got ${last}). ` +
        `If none arrives by ${toWords(verdict.offAt)}, the next failure switches the endpoint off.`
      );
    case "disable":
      return verdict.reason === "gone"
        ? `The receiver said that it is gone for good (${last}); the endpoint was switched off.`
        : `Deliveries kept failing (the last attempt got ${last}); the endpoint was switched off.`;
    default:
      return verdict satisfies never;
  }
}

/** "5 March 2027 at 15:30 UTC", cut to the minute before. */
function toWords(instant: Date): string {
  return `${WORDS.format(instant)} UTC`;
}

const WORDS = new Intl.DateTimeFormat("en-GB", { dateStyle: "long", timeStyle: "short", timeZone: "UTC" });
