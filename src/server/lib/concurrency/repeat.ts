import { pause } from "./pause.ts";

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
