import { setTimeout as sleep } from "node:timers/promises";

/**
 * Runs immediately and then again a period after each run ends, until the signal. Resolves when the last run has ended.
 */
export async function repeat(
  options: { periodMs: number; signal: AbortSignal },
  run: () => Promise<void>,
): Promise<void> {
  while (!options.signal.aborted) {
    await run();
    // Only the abort can end this wait early, and the loop's condition checks it.
    await sleep(options.periodMs, undefined, { signal: options.signal }).catch(() => undefined);
  }
}
