import { ApiError, ConnectionError } from "./errors.ts";

const FIRST_DELAY_MS = 250;
const DELAY_MAX_MS = 30_000;
/** A longer wait is reported to the caller as an error. */
const RETRY_AFTER_MAX_SECONDS = 120;

/** Retries after connection errors, 429 and 5xx. */
export async function withRetries<T>(
  work: () => Promise<T>,
  { retries, signal }: { retries: number; signal: AbortSignal | undefined },
): Promise<T> {
  for (let retriesUsed = 0; ; retriesUsed++) {
    try {
      return await work();
    } catch (error) {
      const delayMs = toDelayMs(error, { retriesUsed, random: Math.random() });
      if (delayMs === null || retriesUsed >= retries) throw error;
      await pause(delayMs, signal);
    }
  }
}

/** The delay before the next attempt; null if a retry is pointless. `random` is from 0 to 1. */
export function toDelayMs(
  error: unknown,
  { retriesUsed, random }: { retriesUsed: number; random: number },
): number | null {
  if (!isTemporary(error)) return null;
  const askedSeconds = error instanceof ApiError ? (error.retryAfterSeconds ?? 0) : 0;
  if (askedSeconds > RETRY_AFTER_MAX_SECONDS) return null;
  const grownMs = Math.min(DELAY_MAX_MS, FIRST_DELAY_MS * 2 ** retriesUsed);
  // Up to half of the delay is random, so that clients that failed together don't retry together.
  return Math.max(askedSeconds * 1_000, grownMs * (0.5 + random / 2));
}

function isTemporary(error: unknown): boolean {
  if (error instanceof ApiError) return error.status === 429 || error.status >= 500;
  return error instanceof ConnectionError;
}

function pause(delayMs: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, delayMs);
    if (signal?.aborted) stop();
    else signal?.addEventListener("abort", stop, { once: true });
  });
}
