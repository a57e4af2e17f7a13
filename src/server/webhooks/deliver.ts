import type { AttemptTrigger } from "#contract/delivery.ts";
import type { DeliveryId } from "#contract/ids.ts";
import type { WebhookEventType } from "#contract/webhook-event.ts";
import type { Clock } from "../lib/clock.ts";
import { type AttemptOutcome, classifyReply } from "./classify-reply.ts";
import type { GuardedSend, SendResult } from "./guarded-send.ts";
import type { AttemptReport, ClaimedDelivery, ExpiredLease } from "./queue-queries.ts";
import { nextAttemptAt, parseRetryAfter, type RetrySchedule } from "./retry-schedule.ts";
import type { SecretBox } from "./secret-box.ts";
import { type SigningSecrets, signBody } from "./sign.ts";

// One attempt, from the claim to the report:
//
//   outcome of the request          automatic attempt                          manual attempt
//   delivered                       delivered                                  delivered
//   retry, with retries left        retrying, next attempt by the schedule     state unchanged
//   retry, with none left           failed                                     state unchanged
//   failed (final)                  failed                                     state unchanged
//   interrupted (lease ran out)     as retry                                   state unchanged

export type DeliverDeps = {
  clock: Clock;
  send: GuardedSend["send"];
  secretBox: SecretBox;
  schedule: RetrySchedule;
};

type Attempt = {
  deliveryId: DeliveryId;
  leaseToken: string;
  number: number;
  trigger: AttemptTrigger;
  retriesUsed: number;
  type: WebhookEventType;
};

export async function deliver(deps: DeliverDeps, claimed: ClaimedDelivery): Promise<AttemptReport> {
  const attempt = toAttempt(claimed);
  const result = await makeRequest(deps, claimed);
  if (result === null) return reportUnsendable(attempt, deps.clock.now());
  const outcome = classifyReply(claimed.kind, result);
  return reportOutcome(deps, attempt, { result, outcome, now: deps.clock.now() });
}

/** For a lease whose holder is gone: the request may have been made or not, and counts as an attempt. */
export function reportInterrupted(deps: Pick<DeliverDeps, "schedule">, lease: ExpiredLease, now: Date): AttemptReport {
  const attempt = toAttempt(lease);
  const outcome = { kind: "retry", errorCode: "network_error", retryAfter: null } as const;
  return {
    ...blankReport(attempt, now),
    ...settle(deps.schedule, attempt, { outcome, now }),
    result: "interrupted",
    errorCode: "interrupted",
    countsForHealth: false,
  };
}

async function makeRequest(deps: DeliverDeps, claimed: ClaimedDelivery): Promise<SendResult | null> {
  const { body, url } = claimed;
  if (body === null) return null;
  if (claimed.kind !== "webhook") return await deps.send({ url, body, signed: null });
  const at = deps.clock.now();
  const secrets = openSecrets(deps.secretBox, claimed, at);
  if (secrets === null) return null;
  const signature = signBody({ secrets, body, at });
  return await deps.send({
    url,
    body,
    signed: { eventType: claimed.type, deliveryId: claimed.delivery_id, signature },
  });
}

/** Null when the secret cannot be read: SECRET_KEY is not the one it was sealed with. */
function openSecrets(box: SecretBox, claimed: ClaimedDelivery, now: Date): SigningSecrets | null {
  const current = box.open(claimed.endpoint_id, claimed.secret);
  if (current === null) return null;
  const isOverlap = claimed.previous_secret_expires_at !== null && claimed.previous_secret_expires_at > now;
  const previous = isOverlap && claimed.previous_secret ? box.open(claimed.endpoint_id, claimed.previous_secret) : null;
  return previous === null ? [current] : [current, previous];
}

function reportOutcome(
  deps: Pick<DeliverDeps, "schedule">,
  attempt: Attempt,
  { result, outcome, now }: { result: SendResult; outcome: AttemptOutcome; now: Date },
): AttemptReport {
  const retryAfterSeconds = outcome.kind === "retry" ? parseRetryAfter(outcome.retryAfter, now) : null;
  return {
    ...blankReport(attempt, now),
    ...settle(deps.schedule, attempt, { outcome, now }),
    result: outcome.kind === "delivered" ? "delivered" : "failed",
    durationMs: Math.round(result.durationMs),
    status: result.status,
    errorCode: outcome.kind === "delivered" ? null : outcome.errorCode,
    reply: result.kind === "reply" ? result.body : null,
    replyIsTruncated: result.kind === "reply" && result.truncated,
    pauseUntil: retryAfterSeconds === null ? null : new Date(now.getTime() + retryAfterSeconds * 1000),
    isRefused: outcome.kind === "failed" && outcome.endpointEffect !== "none",
    isGone: outcome.kind === "failed" && outcome.endpointEffect === "disable",
  };
}

/** The table above. */
function settle(
  schedule: RetrySchedule,
  { trigger, deliveryId, retriesUsed, type }: Attempt,
  { outcome, now }: { outcome: AttemptOutcome; now: Date },
): Pick<AttemptReport, "state" | "usesRetry" | "nextAttemptAt"> {
  if (outcome.kind === "delivered") return { state: "delivered", usesRetry: false, nextAttemptAt: null };
  if (trigger === "manual") return { state: null, usesRetry: false, nextAttemptAt: null };
  const next =
    outcome.kind === "retry" && type !== "endpoint.test"
      ? nextAttemptAt(schedule, { deliveryId, retriesUsed, retryAfter: outcome.retryAfter, now })
      : null;
  return next
    ? { state: "retrying", usesRetry: true, nextAttemptAt: next }
    : { state: "failed", usesRetry: false, nextAttemptAt: null };
}

/** No request was made: its bytes are gone, or its secret cannot be read. Trying again would not help. */
function reportUnsendable(attempt: Attempt, now: Date): AttemptReport {
  return {
    ...blankReport(attempt, now),
    result: "failed",
    errorCode: "unsendable",
    state: attempt.trigger === "manual" ? null : "failed",
    countsForHealth: false,
  };
}

function blankReport(attempt: Attempt, now: Date): AttemptReport {
  return {
    deliveryId: attempt.deliveryId,
    leaseToken: attempt.leaseToken,
    number: attempt.number,
    finishedAt: now,
    result: "failed",
    durationMs: null,
    status: null,
    errorCode: null,
    reply: null,
    replyIsTruncated: false,
    state: null,
    usesRetry: false,
    nextAttemptAt: null,
    pauseUntil: null,
    // A test is the customer trying things out.
    countsForHealth: attempt.type !== "endpoint.test",
    isRefused: false,
    isGone: false,
  };
}

function toAttempt(claimed: ClaimedDelivery | ExpiredLease): Attempt {
  return {
    deliveryId: claimed.delivery_id,
    leaseToken: claimed.lease_token,
    number: claimed.number,
    trigger: claimed.trigger,
    retriesUsed: claimed.retries_used,
    type: claimed.type,
  };
}
