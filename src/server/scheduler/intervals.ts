import { findFirst } from "../lib/find-first.ts";

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
    for (const gap of listOverlapping(gaps, interval)) {
      if (gap.startMs > startMs) left.push({ startMs, endMs: gap.startMs });
      startMs = gap.endMs;
    }
    if (startMs < interval.endMs) left.push({ startMs, endMs: interval.endMs });
    return left;
  });
}

/** The parts of each interval that lie within `others`; adjacent intervals stay separate. */
export function intersect(intervals: readonly Interval[], others: readonly Interval[]): Interval[] {
  const merged = merge(others);
  return intervals.flatMap((interval) =>
    listOverlapping(merged, interval).map(({ startMs, endMs }) => ({
      startMs: Math.max(startMs, interval.startMs),
      endMs: Math.min(endMs, interval.endMs),
    })),
  );
}

/** Whether one of the merged intervals contains all of `interval`. */
export function covers(merged: readonly Interval[], interval: Interval): boolean {
  const first = merged[findFirst(merged, ({ endMs }) => endMs > interval.startMs)];
  return first !== undefined && first.startMs <= interval.startMs && interval.endMs <= first.endMs;
}

/** The merged intervals that share a moment with this one. A list from a system can be long, so it is not scanned. */
function listOverlapping(merged: readonly Interval[], { startMs, endMs }: Interval): Interval[] {
  const overlapping: Interval[] = [];
  for (let index = findFirst(merged, (interval) => interval.endMs > startMs); index < merged.length; index++) {
    const other = merged[index];
    if (other === undefined || other.startMs >= endMs) break;
    overlapping.push(other);
  }
  return overlapping;
}
