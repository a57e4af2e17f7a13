import type { Deps } from "../../deps.ts";
import type { Clock } from "../../lib/time/clock.ts";
import type { LoadedDelivery } from "../queue/load.ts";
import type { AttemptReport } from "../queue/report-queries.ts";
import type { GuardedSend, OutboundPost } from "../request/guarded-send.ts";
import { signBody, signStandard, toUnixSeconds } from "../request/sign.ts";
import { reportErased, reportOutcome, reportUnreadable } from "./attempt-report.ts";
import { classifyReply } from "./classify-reply.ts";
import { type Opened, openSealed, type SealedBoxes } from "./open-sealed.ts";
import type { RetrySchedule } from "./retry-schedule.ts";

// One attempt, from the claim to the report:
//
//   body       the bytes that were stored with the event; if the booking was erased meanwhile, nothing is sent
//   open       the sealed URL, secrets and headers; if SECRET_KEY does not open them, nothing is sent
//   sign       the body, with the time of this attempt
//   send       the signed bytes, to an allowed address (request/guarded-send.ts)
//   classify   delivered, retry or failed, by the reply (classify-reply.ts)
//   report     the delivery's next state, and when the next attempt is due (attempt-report.ts)

export type DeliverDeps = SealedBoxes & {
  readonly clock: Clock;
  readonly send: GuardedSend["send"];
  readonly schedule: RetrySchedule;
};

export type Delivered = {
  report: AttemptReport;
  /** For the operator: a chat refused our card, or SECRET_KEY does not open the signing secret, the chat URL or a custom header. */
  operatorFault: "card_refused" | "secret_unreadable" | null;
};

export async function deliver(deps: DeliverDeps, delivery: LoadedDelivery): Promise<Delivered> {
  const { body } = delivery;
  const at = deps.clock.now();
  if (body === null) return { report: reportErased(delivery, at), operatorFault: null };
  const opened = openSealed(deps, delivery, at);
  if (opened === null) return { report: reportUnreadable(deps, delivery, at), operatorFault: "secret_unreadable" };
  const post = toSignedPost(delivery, { body, opened, at });
  const result = await deps.send(post);
  const outcome = classifyReply(delivery.kind, result);
  return {
    report: reportOutcome(deps, delivery, { post, result, outcome, now: deps.clock.now() }),
    operatorFault: outcome.kind === "failed" && outcome.isOurFault ? "card_refused" : null,
  };
}

/** Chats get no signature. */
function toSignedPost(
  { endpointId, eventId, deliveryId, type, isTestBooking }: LoadedDelivery,
  { body, opened, at }: { body: Buffer; opened: Opened; at: Date },
): OutboundPost {
  const { url, secrets, customHeaders } = opened;
  if (secrets === null) return { url, endpointId, body, signed: null, customHeaders };
  const signatures = {
    unixSeconds: toUnixSeconds(at),
    contract: signBody({ secrets, body, at }),
    standard: signStandard({ secrets, eventId, body, at }),
  };
  return {
    url,
    endpointId,
    body,
    signed: { eventType: type, eventId, deliveryId, isTestBooking, signatures },
    customHeaders,
  };
}

export function logAttempt(
  { metrics, log }: Pick<Deps, "metrics" | "log">,
  { kind, organizationId, endpointId, deliveryId, attemptNumber }: LoadedDelivery,
  { report, operatorFault }: Delivered,
): void {
  metrics.deliveryAttempts.inc({ kind, result: report.result, error: report.errorCode ?? "none" });
  if (report.durationMs !== null) metrics.deliveryDuration.observe({ kind }, report.durationMs / 1000);
  if (report.state === "delivered" || report.state === "failed")
    metrics.deliveriesEnded.inc({ kind, outcome: report.state });
  if (operatorFault) log.error(`delivery.${operatorFault}`, { deliveryId, endpointId });
  log.info("delivery.attempted", {
    organizationId,
    deliveryId,
    endpointId,
    attemptNumber,
    outcome: report.result,
    ...(report.status === null ? {} : { status: report.status }),
    ...(report.errorCode === null ? {} : { errorCode: report.errorCode }),
    ...(report.durationMs === null ? {} : { durationMs: report.durationMs }),
    ...(report.nextAttemptAt === null ? {} : { nextAttemptAt: report.nextAttemptAt.toISOString() }),
  });
}
