import { createHash } from "node:crypto";
import type { DeliveryId } from "#contract/ids.ts";

// When the next attempt of a delivery is due. The schedule is data (WEBHOOK_RETRY_SCHEDULE, WEBHOOK_RETRY_JITTER) and the
// jitter comes from the delivery itself, so a restarted worker, or another one, works out the same moment.

export type RetrySchedule = {
  /** The delay before retry 1, 2, …; there are as many retries as entries. */
  readonly delaysSeconds: readonly number[];
  /** 0.1 adds up to a tenth. Jitter only ever adds, so no retry comes before its nominal delay. */
  readonly jitterFraction: number;
};

/** A receiver cannot push a retry further away than this. */
export const RETRY_AFTER_MAX_SECONDS = 3_600;

/** Null when every retry has been used. `now` is the end of the failed attempt. */
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

/** Seconds the receiver asked us to wait (delay-seconds or HTTP-date), at most an hour; null when it did not say. */
export function parseRetryAfter(header: string | null, now: Date): number | null {
  const text = header?.trim() ?? "";
  const seconds = /^[0-9]+$/.test(text) ? Number(text) : secondsUntil(parseHttpDate(text), now);
  return seconds === null ? null : Math.min(seconds, RETRY_AFTER_MAX_SECONDS);
}

/** Uniform in [0, 1): the first 48 bits of a hash. */
function toFraction(deliveryId: DeliveryId, retryNumber: number): number {
  return createHash("sha256").update(`${deliveryId}:${retryNumber}`).digest().readUIntBE(0, 6) / 2 ** 48;
}

function secondsUntil(instant: Date | null, now: Date): number | null {
  return instant === null ? null : Math.max(0, (instant.getTime() - now.getTime()) / 1_000);
}

/** The three forms of RFC 9110, section 5.6.7. `Date.parse` alone takes far more than dates. */
function parseHttpDate(text: string): Date | null {
  const zone = HTTP_DATE_WITH_ZONE.test(text) ? "" : ASCTIME_DATE.test(text) ? " GMT" : null;
  if (zone === null) return null;
  const ms = Date.parse(text + zone);
  return Number.isNaN(ms) ? null : new Date(ms);
}

const HTTP_DATE_WITH_ZONE =
  /^[A-Z][a-z]{2,8}, [0-9]{2}[ -][A-Z][a-z]{2}[ -](?:[0-9]{2}|[0-9]{4}) [0-9]{2}:[0-9]{2}:[0-9]{2} GMT$/;
const ASCTIME_DATE = /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ 0-9][0-9] [0-9]{2}:[0-9]{2}:[0-9]{2} [0-9]{4}$/;
