import { formatRate } from "../format.ts";

/** A figure's change since the earlier period. `none`: there is no difference to show, and the text says why. */
export type Change = { direction: "up" | "down" | "same" | "none"; text: string; unit?: string };

const decimals = new Intl.NumberFormat(undefined, { maximumFractionDigits: 1 });

/** In percent of the earlier count. */
export function toCountChange(now: number, before: number): Change {
  if (before === 0 && now > 0) return { direction: "none", text: "Up from 0" };
  return toChange(now - before, formatRate(Math.abs(now - before) / before));
}

type Rated = { views: number; conversionRate: number };

/** Rates are compared in percentage points: a percentage of a percentage misleads. Without views there is no rate. */
export function toRateChange(now: Rated, before: Rated): Change {
  if (now.views === 0) return { direction: "none", text: "No views" };
  if (before.views === 0) return { direction: "none", text: "No earlier views" };
  const points = Math.round((now.conversionRate - before.conversionRate) * 1000) / 10;
  return toChange(points, decimals.format(Math.abs(points)), Math.abs(points) === 1 ? "point" : "points");
}

/** A dash without views: imported bookings have none. */
export function formatConversionRate({ views, conversionRate }: Rated): string {
  return views === 0 ? "–" : formatRate(conversionRate);
}

/** Bookings without a known appointment time have no lead time. */
export function toDaysChange(now: number | null, before: number | null): Change {
  if (now === null) return { direction: "none", text: "No bookings" };
  if (before === null) return { direction: "none", text: "No earlier bookings" };
  const days = Math.round((now - before) * 10) / 10;
  return toChange(days, decimals.format(Math.abs(days)), Math.abs(days) === 1 ? "day" : "days");
}

export function formatDays(days: number): string {
  return decimals.format(days);
}

/** The unit for the rounded number: 1.04 days are shown as 1 day. */
export function toDayUnit(days: number): "day" | "days" {
  return formatDays(days) === formatDays(1) ? "day" : "days";
}

function toChange(difference: number, text: string, unit?: string): Change {
  if (difference === 0) return { direction: "same", text: "No change" };
  return { direction: difference > 0 ? "up" : "down", text, ...(unit && { unit }) };
}
