import type { KeyCounts } from "../../packs/totals.ts";

// Lists of 100,000 keys are possible, and only a few rows of them are shown: the others are not sorted, named or sent anywhere.

type Counts = { views: number; bookings: number };

/** Each key is compared with about as many others. More are sorted faster by PostgreSQL, which also blocks nobody. */
const CHOSEN_MAX = 1_000;

/** The keys that may be in the first rows, most bookings first, then most views, with all that tie with the last. */
export function chooseBest(totals: KeyCounts, rowsMax: number): KeyCounts {
  if (totals.size <= rowsMax || rowsMax > CHOSEN_MAX) return totals;
  const best: Counts[] = [];
  for (const counts of totals.values()) {
    const last = best[rowsMax - 1];
    if (last && !isBefore(counts, last)) continue;
    if (last) best.pop();
    let position = best.length;
    while (position > 0 && isBefore(counts, best[position - 1] as Counts)) position--;
    best.splice(position, 0, counts);
  }
  const last = best.at(-1);
  const chosen: KeyCounts = new Map();
  for (const [key, counts] of totals) if (last && !isBefore(last, counts)) chosen.set(key, counts);
  return chosen;
}

/** Keys that sort at or after a row with these counts. */
export function leaveOutBefore(totals: KeyCounts, row: Counts): KeyCounts {
  const left: KeyCounts = new Map();
  for (const [key, counts] of totals) if (!isBefore(counts, row)) left.set(key, counts);
  return left;
}

function isBefore(a: Counts, b: Counts): boolean {
  return a.bookings > b.bookings || (a.bookings === b.bookings && a.views > b.views);
}
