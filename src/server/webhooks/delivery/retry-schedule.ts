import { createHash } from "node:crypto";
import type { DeliveryId } from "#contract/ids.ts";
import { parseRetryAfter } from "../../sending/sending.ts";

// When the next attempt of a delivery is due. The schedule is configured (WEBHOOK_RETRY_SCHEDULE, WEBHOOK_RETRY_JITTER) and the
// jitter is derived from the delivery id, so every worker computes the same time.

export type RetrySchedule = {
  /** The delay before retry 1, 2, …; there are as many retries as entries. */
  readonly delaysSeconds: readonly number[];
  /** 0.1 adds up to a tenth. Jitter only adds, so no retry comes before its nominal delay. */
  readonly jitterFraction: number;
};

/** Null when no retry is left. `now` is the end of the failed attempt. */
export function nextAttemptAt(
  schedule: RetrySchedule,
  failed: { deliveryId: DeliveryId; retriesUsed: number; retryAfter: string | null; now: Date },
): Date | null {
  const nominalSeconds = schedule.delaysSeconds[failed.retriesUsed];
  if (nominalSeconds === undefined) return null;
  const retryNumber = failed.retriesUsed + 1;
  const jittered = nominalSeconds * (1 + schedule.jitterFraction * toFraction(failed.deliveryId, retryNumber));
  const asked = parseRetryAfter(failed.retryAfter, failed.now) ?? 0;
  return new Date(failed.now.getTime() + Math.ceil(Math.max(jittered, asked) * 1_000));
}

/** Uniform in [0, 1): the first 48 bits of a hash. */
function toFraction(deliveryId: DeliveryId, retryNumber: number): number {
  return createHash("sha256").update(`${deliveryId}:${retryNumber}`).digest().readUIntBE(0, 6) / 2 ** 48;
}
