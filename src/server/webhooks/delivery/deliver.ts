import type { AttemptTrigger } from "#contract/delivery.ts";
import type { EndpointKind } from "#contract/endpoint.ts";
import type { DeliveryId } from "#contract/ids.ts";
import type { WebhookEventType } from "#contract/webhook-event.ts";
import type { Clock } from "../../lib/clock.ts";
import type { Sealer } from "../../lib/sealed.ts";
import { parseRetryAfter } from "../../sending/retry-after.ts";
import type { ClaimedDelivery } from "../queue/claim.ts";
import type { ExpiredLease } from "../queue/recovery-queries.ts";
import type { AttemptReport } from "../queue/report-queries.ts";
import type { GuardedSend, SendResult } from "../request/guarded-send.ts";
import { type SigningSecrets, signBody } from "../request/sign.ts";
import { type AttemptOutcome, classifyReply } from "./classify-reply.ts";
import { nextAttemptAt, type RetrySchedule } from "./retry-schedule.ts";

// One attempt, from the claim to the report:
//
//   outcome of the request          automatic attempt                          manual attempt
//   delivered                       delivered                                  delivered
//   retry, with retries left        retrying, next attempt by the schedule     state unchanged
//   retry, with none left           failed                                     state unchanged
//   failed (final)                  failed                                     state unchanged
//   interrupted (lease ran out)     as retry                                   state unchanged
//   secret cannot be read           retrying, and no retry is used             state unchanged
//
// A test event is tried once: what would be a retry is failed.

/** Slack takes about one message a second, Teams four; both switch off who sends more. */
const CHAT_PAUSE_MS = 1_000;

export type DeliverDeps = {
  clock: Clock;
  send: GuardedSend["send"];
  secretBox: Sealer;
  schedule: RetrySchedule;
};

export type Delivered = {
  report: AttemptReport;
  /** What the operator must look after: our own card was refused, or SECRET_KEY is not the one it was sealed with. */
  operatorFault: "card_refused" | "secret_unreadable" | null;
};

type Attempt = {
  deliveryId: DeliveryId;
  leaseToken: string;
  url: string;
  number: number;
  trigger: AttemptTrigger;
  retriesUsed: number;
  type: WebhookEventType;
};

export async function deliver(deps: DeliverDeps, claimed: ClaimedDelivery): Promise<Delivered> {
  const attempt = toAttempt(claimed);
  const { body } = claimed;
  if (body === null) return { report: reportErased(attempt, deps.clock.now()), operatorFault: null };
  const result = await makeRequest(deps, claimed, body);
  const now = deps.clock.now();
  if (result === "secret_unreadable") return { report: reportUnsigned(deps, attempt, now), operatorFault: result };
  const outcome = classifyReply(claimed.kind, result);
  return {
    report: reportOutcome(deps, attempt, { kind: claimed.kind, result, outcome, now }),
    operatorFault: isOurFault(outcome) ? "card_refused" : null,
  };
}

/** For a lease whose holder is gone: the request may have been made or not, and counts as an attempt. */
export function reportInterrupted(deps: Pick<DeliverDeps, "schedule">, lease: ExpiredLease, now: Date): AttemptReport {
  const attempt = toAttempt(lease);
  const outcome = { kind: "retry", errorCode: "interrupted", retryAfter: null } as const;
  return {
    ...blankReport(attempt, now),
    ...settle(deps.schedule, attempt, { outcome, now }),
    result: "interrupted",
    errorCode: "interrupted",
    countsForHealth: false,
  };
}

async function makeRequest(
  deps: DeliverDeps,
  claimed: ClaimedDelivery,
  body: Buffer,
): Promise<SendResult | "secret_unreadable"> {
  const { url, endpoint_id: endpointId } = claimed;
  if (claimed.kind !== "webhook") return await deps.send({ url, endpointId, body, signed: null });
  const at = deps.clock.now();
  const secrets = openSecrets(deps.secretBox, claimed, at);
  if (secrets === null) return "secret_unreadable";
  const signature = signBody({ secrets, body, at });
  return await deps.send({
    url,
    endpointId,
    body,
    signed: { eventType: claimed.type, deliveryId: claimed.delivery_id, signature },
  });
}

function openSecrets(box: Sealer, claimed: ClaimedDelivery, now: Date): SigningSecrets | null {
  const current = box.open(claimed.endpoint_id, claimed.secret);
  if (current === null) return null;
  const isOverlap = claimed.previous_secret_expires_at !== null && claimed.previous_secret_expires_at > now;
  const previous = isOverlap && claimed.previous_secret ? box.open(claimed.endpoint_id, claimed.previous_secret) : null;
  return previous === null ? [current] : [current, previous];
}

function reportOutcome(
  deps: Pick<DeliverDeps, "schedule">,
  attempt: Attempt,
  { kind, result, outcome, now }: { kind: EndpointKind; result: SendResult; outcome: AttemptOutcome; now: Date },
): AttemptReport {
  const blank = blankReport(attempt, now);
  const settled = settle(deps.schedule, attempt, { outcome, now });
  // One delivery that is sent again by hand does not become two, and a test is none.
  const isOfRow = settled.nextAttemptAt === null && attempt.trigger === "automatic" && attempt.type !== "endpoint.test";
  return {
    ...blank,
    ...settled,
    result: outcome.kind === "delivered" ? "delivered" : "failed",
    durationMs: Math.round(result.durationMs),
    errorCode: outcome.kind === "delivered" ? null : outcome.errorCode,
    ...(result.kind === "reply"
      ? { status: result.status, reply: result.body, replyIsTruncated: result.truncated }
      : {}),
    pauseUntil: toPauseUntil(kind, outcome, now),
    // What is wrong with our card says nothing about the receiver.
    countsForHealth: blank.countsForHealth && !isOurFault(outcome),
    isRefused: isOfRow ? outcome.kind === "failed" && outcome.endpointEffect !== "none" : null,
    isGone: outcome.kind === "failed" && outcome.endpointEffect === "disable",
  };
}

/** The receiver's wish, and a chat's own pace. */
function toPauseUntil(kind: EndpointKind, outcome: AttemptOutcome, now: Date): Date | null {
  const askedSeconds = outcome.kind === "retry" ? parseRetryAfter(outcome.retryAfter, now) : null;
  const pauseMs = Math.max((askedSeconds ?? 0) * 1_000, kind === "webhook" ? 0 : CHAT_PAUSE_MS);
  return pauseMs === 0 ? null : new Date(now.getTime() + pauseMs);
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

/**
 * No request was made, since nobody can sign it: SECRET_KEY is not the one the secret was sealed under. That is no fault of
 * the receiver, and no retry is used: until the operator gives the right key, or the secret is rotated, the delivery waits.
 */
function reportUnsigned(deps: Pick<DeliverDeps, "schedule">, attempt: Attempt, now: Date): AttemptReport {
  // As far along the schedule as there were attempts, and from then on by its last delay.
  const retriesUsed = Math.min(attempt.number, deps.schedule.delaysSeconds.length) - 1;
  const outcome = { kind: "retry", errorCode: "secret_unreadable", retryAfter: null } as const;
  return {
    ...blankReport(attempt, now),
    ...settle(deps.schedule, { ...attempt, retriesUsed }, { outcome, now }),
    usesRetry: false,
    errorCode: "secret_unreadable",
    countsForHealth: false,
  };
}

/** No request was made: its booking was erased while it waited. Trying again would not help. */
function reportErased(attempt: Attempt, now: Date): AttemptReport {
  return {
    ...blankReport(attempt, now),
    errorCode: "payload_erased",
    state: attempt.trigger === "manual" ? null : "failed",
    countsForHealth: false,
  };
}

function blankReport(attempt: Attempt, now: Date): AttemptReport {
  return {
    deliveryId: attempt.deliveryId,
    leaseToken: attempt.leaseToken,
    url: attempt.url,
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
    isRefused: null,
    isGone: false,
  };
}

function isOurFault(outcome: AttemptOutcome): boolean {
  return outcome.kind === "failed" && outcome.isOurFault;
}

function toAttempt(claimed: ClaimedDelivery | ExpiredLease): Attempt {
  return {
    deliveryId: claimed.delivery_id,
    leaseToken: claimed.lease_token,
    url: claimed.url,
    number: claimed.number,
    trigger: claimed.trigger,
    retriesUsed: claimed.retries_used,
    type: claimed.type,
  };
}
