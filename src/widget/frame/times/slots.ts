import { DAY_MS } from "#contract/durations.ts";
import { SLOT_RANGE_DAYS_MAX } from "#contract/scheduling.ts";
import type { FreeSlot } from "#contract/widgets/embed-api.ts";

// Available times, loaded piece by piece. Visitors only look ahead, so what is loaded is one range without gaps.

export type TimeRange = { readonly fromMs: number; readonly toMs: number };

export const RANGE_MAX_MS = SLOT_RANGE_DAYS_MAX * DAY_MS;

/** Several requests may be needed: one covers 31 days, and a month in which clocks go back is longer. */
export function splitRange({ fromMs, toMs }: TimeRange): TimeRange[] {
  const pieces: TimeRange[] = [];
  for (let startMs = fromMs; startMs < toMs; startMs += RANGE_MAX_MS)
    pieces.push({ fromMs: startMs, toMs: Math.min(startMs + RANGE_MAX_MS, toMs) });
  return pieces;
}

export function replaceSlots(known: readonly FreeSlot[], range: TimeRange, fresh: readonly FreeSlot[]): FreeSlot[] {
  const isInside = ({ start }: FreeSlot) => Date.parse(start) >= range.fromMs && Date.parse(start) < range.toMs;
  const byStart = new Map([...known.filter((slot) => !isInside(slot)), ...fresh].map((slot) => [slot.start, slot]));
  return [...byStart.values()].sort((a, b) => Date.parse(a.start) - Date.parse(b.start));
}

/** After a time was taken: the reloaded times, or if reloading failed, the old ones without it. */
export function withoutTaken(
  known: readonly FreeSlot[],
  taken: { start: string; fresh: readonly FreeSlot[] },
): FreeSlot[] {
  const remaining = known.filter(({ start }) => start !== taken.start);
  const [first, last] = [taken.fresh[0], taken.fresh.at(-1)];
  if (!first || !last) return remaining;
  return replaceSlots(
    remaining,
    { fromMs: Date.parse(first.start), toMs: Date.parse(last.start) + 1 },
    taken.fresh.filter(({ start }) => start !== taken.start),
  );
}
