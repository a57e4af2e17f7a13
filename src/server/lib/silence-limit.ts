/** Calls `cutOff` when the work has not ended after so long; it is then expected to fail by that. */
export function limitSilence<Result>(work: Promise<Result>, limitMs: number, cutOff: () => void): Promise<Result> {
  const timer = setTimeout(cutOff, limitMs);
  return work.finally(() => clearTimeout(timer));
}
