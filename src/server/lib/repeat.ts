import { setTimeout as sleep } from "node:timers/promises";

/** Runs now and then again a period after each run's end, until the signal; resolves when the last run has ended. */
export async function repeat(
  options: { periodMs: number; signal: AbortSignal },
  run: () => Promise<void>,
): Promise<void> {
  while (!options.signal.aborted) {
    await run();
    // The abort is the one way this waiting ends early; the loop's condition sees it.
    await sleep(options.periodMs, undefined, { signal: options.signal }).catch(() => undefined);
  }
}
