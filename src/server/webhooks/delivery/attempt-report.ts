import type { AttemptDetail } from "#contract/webhooks/delivery.ts";
import { parseRetryAfter } from "../../sending/sending.ts";
import type { LoadedDelivery } from "../queue/load.ts";
import type { AttemptReport } from "../queue/report-queries.ts";
import type { OutboundPost, SendResult } from "../request/guarded-send.ts";
import type { AttemptOutcome } from "./classify-reply.ts";
import { nextAttemptAt, type RetrySchedule } from "./retry-schedule.ts";

// What an attempt does to its delivery (`settle`):
//
//   outcome of the request          automatic attempt                          manual attempt
//   delivered                       delivered                                  delivered
//   retry, with retries left        retrying, next attempt by the schedule     state unchanged
//   retry, with none left           failed                                     state unchanged
//   failed (final)                  failed                                     state unchanged; "retry now": failed
//   interrupted (worker is gone)    as retry                                   state unchanged
//   held back (endpoint is failing) as retry                                   state unchanged
//   secret cannot be read           retrying, and no retry is used             state unchanged
//
// If the endpoint's URL was changed during the request, none of this counts: the delivery is due again at once, at the new URL
// (queue/report-queries.ts).
//
// A test event is tried once: instead of a retry it fails. A manual attempt of a delivery that is retrying ("retry now") uses
// no retry either; if it fails, the schedule continues where it was.

type WithSchedule = { readonly schedule: RetrySchedule };

export function reportOutcome(
  deps: WithSchedule,
  delivery: LoadedDelivery,
  { post, result, outcome, now }: { post: OutboundPost; result: SendResult; outcome: AttemptOutcome; now: Date },
): AttemptReport {
  const settled = settle(deps.schedule, delivery, { outcome, now });
  // Redeliveries and tests don't count toward the refusal streak.
  const countsTowardStreak =
    settled.nextAttemptAt === null && delivery.trigger === "automatic" && delivery.type !== "endpoint.test";
  return {
    ...blankReport(delivery, now),
    ...settled,
    result: outcome.kind === "delivered" ? "delivered" : "failed",
    durationMs: Math.round(result.durationMs),
    errorCode: outcome.kind === "delivered" ? null : outcome.errorCode,
    ...(result.kind === "reply"
      ? { status: result.status, reply: result.body, replyIsTruncated: result.truncated }
      : {}),
    detail: toDetail(post, result),
    pauseUntil: toPauseUntil(outcome, now),
    isRefused: countsTowardStreak ? outcome.kind === "failed" && outcome.endpointEffect !== "none" : null,
    isGone: outcome.kind === "failed" && outcome.endpointEffect === "disable",
  };
}

/**
 * For a lease whose worker is gone. The request may or may not have been made; it counts as an attempt. If the worker is known
 * to be dead, the retry is due at once; but a delivery that was interrupted before follows the schedule, in case it is what
 * kills workers.
 */
export function reportInterrupted(
  deps: WithSchedule,
  delivery: LoadedDelivery,
  { isWorkerDead, now }: { isWorkerDead: boolean; now: Date },
): AttemptReport {
  const outcome = { kind: "retry", errorCode: "interrupted", retryAfter: null } as const;
  const settled = settle(deps.schedule, delivery, { outcome, now });
  const retriesAtOnce = isWorkerDead && settled.nextAttemptAt !== null && delivery.lastError !== "interrupted";
  return {
    ...blankReport(delivery, now),
    ...settled,
    ...(retriesAtOnce ? { nextAttemptAt: now } : {}),
    result: "interrupted",
    errorCode: "interrupted",
    countsForHealth: false,
  };
}

/**
 * No request was made: the endpoint is failing, and the delivery waited too long for its turn. The attempt counts all the same,
 * so that the delivery keeps to its schedule.
 */
export function reportHeldBack(deps: WithSchedule, delivery: LoadedDelivery, now: Date): AttemptReport {
  const outcome = { kind: "retry", errorCode: "held_back", retryAfter: null } as const;
  return {
    ...blankReport(delivery, now),
    ...settle(deps.schedule, delivery, { outcome, now }),
    errorCode: "held_back",
  };
}

/**
 * No request was made, because the signing secret, the chat URL or a custom header cannot be opened: it was sealed under another
 * SECRET_KEY. The delivery waits, without using a retry, until the operator restores the key or the secret is replaced.
 */
export function reportUnreadable(deps: WithSchedule, delivery: LoadedDelivery, now: Date): AttemptReport {
  // Delays follow the schedule by the number of attempts; its last delay then repeats.
  const retriesUsed = Math.min(delivery.attemptNumber, deps.schedule.delaysSeconds.length) - 1;
  const outcome = { kind: "retry", errorCode: "secret_unreadable", retryAfter: null } as const;
  return {
    ...blankReport(delivery, now),
    ...settle(deps.schedule, { ...delivery, retriesUsed }, { outcome, now }),
    usesRetry: false,
    errorCode: "secret_unreadable",
    countsForHealth: false,
  };
}

/** No request was made, because the booking was erased while the delivery waited. */
export function reportErased(delivery: LoadedDelivery, now: Date): AttemptReport {
  return {
    ...blankReport(delivery, now),
    errorCode: "payload_erased",
    state: delivery.trigger === "manual" && delivery.resumeAt === null ? null : "failed",
    countsForHealth: false,
  };
}

/** Implements the table above. */
function settle(
  schedule: RetrySchedule,
  { trigger, deliveryId, retriesUsed, type, resumeAt }: LoadedDelivery,
  { outcome, now }: { outcome: AttemptOutcome; now: Date },
): Pick<AttemptReport, "state" | "usesRetry" | "nextAttemptAt"> {
  if (outcome.kind === "delivered") return { state: "delivered", usesRetry: false, nextAttemptAt: null };
  if (trigger === "manual") {
    const nextAttemptAt = resumeAt && outcome.kind === "retry" ? toResumed(schedule, resumeAt, now) : null;
    return { state: resumeAt && !nextAttemptAt ? "failed" : null, usesRetry: false, nextAttemptAt };
  }
  const next =
    outcome.kind === "retry" && type !== "endpoint.test"
      ? nextAttemptAt(schedule, { deliveryId, retriesUsed, retryAfter: outcome.retryAfter, now })
      : null;
  return next
    ? { state: "retrying", usesRetry: true, nextAttemptAt: next }
    : { state: "failed", usesRetry: false, nextAttemptAt: null };
}

/** When the schedule continues after "retry now" has failed: as planned, but not within its first delay. */
function toResumed(schedule: RetrySchedule, resumeAt: Date, now: Date): Date {
  const soonest = now.getTime() + (schedule.delaysSeconds[0] ?? 0) * 1_000;
  return new Date(Math.max(resumeAt.getTime(), soonest));
}

function toDetail({ body, signed, customHeaders }: OutboundPost, { trace }: SendResult): AttemptDetail {
  const headerNames = Object.keys(customHeaders);
  return {
    bodyBytes: body.length,
    signedAt: signed?.signatures.unixSeconds ?? null,
    signatures: signed?.signatures.standard.split(" ").length ?? 0,
    ...(headerNames.length === 0 ? {} : { headerNames }),
    ...(trace.remoteAddress === null ? {} : { remoteAddress: trace.remoteAddress }),
    timings: trace.timings,
    ...(trace.replyHeaders === null ? {} : { responseHeaders: trace.replyHeaders }),
    ...(trace.replyFault === null ? {} : { responseFault: trace.replyFault }),
  };
}

/** Honours Retry-After. */
function toPauseUntil(outcome: AttemptOutcome, now: Date): Date | null {
  const askedSeconds = outcome.kind === "retry" ? parseRetryAfter(outcome.retryAfter, now) : null;
  return askedSeconds ? new Date(now.getTime() + askedSeconds * 1_000) : null;
}

function blankReport(delivery: LoadedDelivery, now: Date): AttemptReport {
  return {
    organizationId: delivery.organizationId,
    endpointId: delivery.endpointId,
    deliveryId: delivery.deliveryId,
    leaseToken: delivery.lease.token,
    receiver: delivery.receiver,
    reference: delivery.reference,
    trigger: delivery.trigger,
    startedAt: delivery.lease.at,
    finishedAt: now,
    result: "failed",
    durationMs: null,
    status: null,
    errorCode: null,
    reply: null,
    replyIsTruncated: false,
    detail: null,
    state: null,
    usesRetry: false,
    nextAttemptAt: null,
    pauseUntil: null,
    countsForHealth: delivery.type !== "endpoint.test",
    isRefused: null,
    isGone: false,
  };
}
