/** Runs a task as soon as fewer than the allowed number are running. Null when the signal was aborted before that. */
export type ConcurrencyLimit = <T>(task: () => Promise<T>, signal: AbortSignal) => Promise<T | null>;

export function createConcurrencyLimit(atOnceMax: number): ConcurrencyLimit {
  let runningCount = 0;
  const waiting: (() => void)[] = [];
  return async (task, signal) => {
    while (runningCount >= atOnceMax && !signal.aborted) await waitForTurn(waiting, signal);
    if (signal.aborted) {
      // If a finished task woke this one, its turn goes to the next.
      if (runningCount < atOnceMax) waiting.shift()?.();
      return null;
    }
    runningCount++;
    try {
      return await task();
    } finally {
      runningCount--;
      waiting.shift()?.();
    }
  };
}

async function waitForTurn(waiting: (() => void)[], signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const wake = (): void => resolve();
  waiting.push(wake);
  signal.addEventListener("abort", wake, { once: true });
  await promise;
  signal.removeEventListener("abort", wake);
  const index = waiting.indexOf(wake);
  if (index >= 0) waiting.splice(index, 1);
}
