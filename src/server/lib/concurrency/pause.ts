import { setTimeout } from "node:timers/promises";
import { LoggableError } from "../log/loggable-error.ts";

/** Ends early, without an error, if the signal aborts. */
export async function pause(ms: number, signal?: AbortSignal): Promise<void> {
  // Only the abort can fail it.
  await setTimeout(ms, undefined, { ...(signal && { signal }) }).catch(() => undefined);
}

/** Rejects if the work takes longer; the work itself continues. */
export async function within<T>(limitMs: number, work: Promise<T>): Promise<T> {
  const timer = new AbortController();
  const late = setTimeout(limitMs, null, { signal: timer.signal }).then(() => {
    throw Object.assign(new LoggableError("Not done in time"), { code: "ETIMEDOUT" });
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    timer.abort();
    late.catch(() => undefined);
  }
}

/**
 * Runs immediately and then again a period after each run ends, until the signal. Resolves when the last run has ended.
 */
export async function repeat(
  options: { periodMs: number; signal: AbortSignal },
  run: () => Promise<void>,
): Promise<void> {
  while (!options.signal.aborted) {
    await run();
    await pause(options.periodMs, options.signal);
  }
}
