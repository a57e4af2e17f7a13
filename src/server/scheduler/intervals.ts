// Stretches of time in milliseconds since 1970, the end excluded. A merged list is sorted and its intervals don't touch.

export type Interval = { readonly startMs: number; readonly endMs: number };

/** Sorted, with touching and overlapping intervals joined. */
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

/** The rest of `from` outside `taken`, merged. */
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

/** The parts of each interval that lie within `others`; adjacent intervals stay separate. */
export function intersect(intervals: readonly Interval[], others: readonly Interval[]): Interval[] {
  const merged = merge(others);
  return intervals.flatMap(({ startMs, endMs }) =>
    merged
      .map((other) => ({ startMs: Math.max(startMs, other.startMs), endMs: Math.min(endMs, other.endMs) }))
      .filter((part) => part.startMs < part.endMs),
  );
}

/** Whether one of the merged intervals contains all of `interval`. */
export function covers(merged: readonly Interval[], interval: Interval): boolean {
  return merged.some(({ startMs, endMs }) => startMs <= interval.startMs && interval.endMs <= endMs);
}
