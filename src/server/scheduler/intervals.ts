// Stretches of time in milliseconds since 1970, the end not included. Lists are in order and do not touch where a function
// says `merged`.

export type Interval = { readonly startMs: number; readonly endMs: number };

/** In order, with those that touch or overlap made one. */
export function merge(intervals: readonly Interval[]): Interval[] {
  const merged: Interval[] = [];
  for (const interval of intervals.toSorted((a, b) => a.startMs - b.startMs)) {
    if (interval.endMs <= interval.startMs) continue;
    const last = merged.at(-1);
    if (last === undefined || interval.startMs > last.endMs) merged.push(interval);
    else merged[merged.length - 1] = { startMs: last.startMs, endMs: Math.max(last.endMs, interval.endMs) };
  }
  return merged;
}

/** What is left of `from` without `taken`, merged. */
export function subtract(from: readonly Interval[], taken: readonly Interval[]): Interval[] {
  const gaps = merge(taken);
  return merge(from).flatMap((interval) => {
    const left: Interval[] = [];
    let startMs = interval.startMs;
    for (const gap of gaps) {
      if (gap.endMs <= startMs || gap.startMs >= interval.endMs) continue;
      if (gap.startMs > startMs) left.push({ startMs, endMs: gap.startMs });
      startMs = gap.endMs;
    }
    return startMs < interval.endMs ? [...left, { startMs, endMs: interval.endMs }] : left;
  });
}

/** Whether one of the merged intervals has the whole of `interval` in it. */
export function covers(merged: readonly Interval[], interval: Interval): boolean {
  return merged.some(({ startMs, endMs }) => startMs <= interval.startMs && interval.endMs <= endMs);
}
