import { describeAttempt } from "#contract/attempt-words.ts";
import { DAY_MS } from "#contract/durations.ts";
import type { EndpointKind } from "#contract/endpoint.ts";
import { toInstantWords } from "../../lib/time/instant-words.ts";
import type { EndpointHealth } from "../queue/report-queries.ts";

// When an endpoint is turned off, and when its owner is notified. One success resets everything.
//
//   gone      it answered 410 (webhook), or a chat says the channel is archived: at once
//   refused   a chat answered 401, 403 or 404 to three deliveries in a row: at once
//   failing   no success for 5 days, at least one failed delivery and 10 failed attempts; but never less than a day after its
//             owner was warned. Health is judged when an attempt fails, so with little traffic the warning may come later.

const FAILING_MS_MAX = 5 * DAY_MS;
const WARNING_MS = DAY_MS;
const FAILED_ATTEMPTS_MIN = 10;
const REFUSED_DELIVERIES_MAX = 3;

export type HealthVerdict =
  | { kind: "well" }
  | { kind: "exhausted" }
  | { kind: "disabling_soon"; failingSince: Date; offAt: Date }
  | { kind: "disable"; reason: "gone" | "failing" };

/** `warnedAt`: when the owner was warned, during this failure, that the endpoint will be turned off. */
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

/** Long enough to warn the owner. */
export function isFailingLong(health: EndpointHealth, now: Date): boolean {
  if (health.failing_since === null || health.failed_attempts < FAILED_ATTEMPTS_MIN) return false;
  return now.getTime() - health.failing_since.getTime() >= FAILING_MS_MAX - WARNING_MS;
}

const REDELIVER = "Fix the endpoint, then redeliver what it missed from the delivery log, which keeps it for 30 days.";

/** The notice's text for the owner, with times in the organization's time zone. */
export function describeVerdict(
  verdict: Exclude<HealthVerdict, { kind: "well" }>,
  health: EndpointHealth,
  timeZone: string,
): string {
  const reference = health.last_failure?.reference ?? null;
  const last = describeLast(health);
  const lastAttempt = reference === null ? `Last attempt: ${last}.` : `Last attempt (booking ${reference}): ${last}.`;
  switch (verdict.kind) {
    case "exhausted":
      return `The delivery of ${reference ?? "an event"} failed and won't be retried. Last attempt: ${last}. ${REDELIVER}`;
    case "disabling_soon":
      return (
        `No delivery has succeeded since ${toInstantWords(verdict.failingSince, timeZone)}. If no delivery succeeds by ` +
        `${toInstantWords(verdict.offAt, timeZone)}, the endpoint will be turned off at the next failure. ${lastAttempt} ${REDELIVER}`
      );
    case "disable":
      return verdict.reason === "gone"
        ? `The endpoint was turned off because it returned 410 Gone. ${lastAttempt} ${REDELIVER}`
        : `The endpoint was turned off because deliveries kept failing. ${lastAttempt} ${REDELIVER}`;
    default:
      return verdict satisfies never;
  }
}

/** "HTTP 400 (user_not_found)". */
function describeLast({ kind, last_failure: last }: EndpointHealth): string {
  if (last === null) return "no response";
  const words = describeAttempt({ kind, ...last });
  const reason = findChatReason(kind, last.reply ?? "");
  return reason === null ? words : `${words} (${reason})`;
}

/** Slack answers with one word, Teams with JSON that has a code. Other receivers' replies could say anything. */
function findChatReason(kind: EndpointKind, reply: string): string | null {
  if (kind === "webhook") return null;
  const [, word, code] = /^\s*(\w{1,60})\s*$|"code"\s*:\s*"(\w{1,60})"/.exec(reply) ?? [];
  return word ?? code ?? null;
}
