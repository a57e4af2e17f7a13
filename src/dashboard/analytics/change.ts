import { formatRate } from "../format.ts";

/** A figure's change since the previous period. `none`: there is no earlier data. */
export type Change = { direction: "up" | "down" | "same"; text: string } | { direction: "none"; text: null };

const NONE: Change = { direction: "none", text: null };
const decimals = new Intl.NumberFormat(undefined, { maximumFractionDigits: 1 });

/** In percent of the earlier count. */
export function toCountChange(now: number, before: number): Change {
  if (before === 0) return NONE;
  return toChange(now - before, formatRate(Math.abs(now - before) / before));
}

/** Rates are compared in percentage points: a percentage of a percentage misleads. */
export function toRateChange(now: number, before: number): Change {
  const points = Math.round((now - before) * 1000) / 10;
  return toChange(points, `${decimals.format(Math.abs(points))} ${Math.abs(points) === 1 ? "point" : "points"}`);
}

export function toDaysChange(now: number | null, before: number | null): Change {
  if (now === null || before === null) return NONE;
  const days = Math.round((now - before) * 10) / 10;
  return toChange(days, `${decimals.format(Math.abs(days))} ${Math.abs(days) === 1 ? "day" : "days"}`);
}

export function formatDays(days: number): string {
  return decimals.format(days);
}

function toChange(difference: number, text: string): Change {
  if (difference === 0) return { direction: "same", text: "No change" };
  return { direction: difference > 0 ? "up" : "down", text };
}
