import type { Analytics, AnalyticsEntry } from "#contract/analytics.ts";
import type { AppBreakdown } from "#contract/app/analytics.ts";
import { DAY_MS } from "#contract/durations.ts";
import { WINDOW_DAYS_MAX } from "#contract/limits.ts";
import { FUNNEL_STEPS, type FunnelStep } from "#contract/steps.ts";
import { RecentMap } from "../lib/recent-map.ts";
import { addDays } from "../lib/time/calendar.ts";
import type { KeyCounts } from "./lists.ts";
import type { AnalyticsCounts, DayCounts } from "./queries.ts";

/**
 * Converts counts to the contract's result: fills in zero days, adds up visits along the funnel, computes rates and averages.
 */
export function toAnalytics(counts: AnalyticsCounts, days: number): Analytics {
  return {
    ...toDayReport(counts, { to: counts.today, days }),
    channels: counts.channels.map(toEntry),
    sources: counts.sources.map(toEntry),
    campaigns: counts.campaigns.map(toEntry),
  };
}

type DayReport = Omit<Analytics, "channels" | "sources" | "campaigns">;

/** The same without the lists. */
export function toDayReport(counts: DayCounts, window: { to: string; days: number }): DayReport {
  const funnel = toFunnel(counts.reached);
  const views = funnel.widget_viewed;
  return {
    days: window.days,
    timeZone: counts.zone,
    totals: {
      views,
      slotSessions: funnel.slot_selected,
      formSessions: funnel.form_started,
      bookings: counts.bookings,
      failed: counts.failed,
      noAvailability: counts.no_availability,
      conversionRate: toRate(counts.bookings, views),
      avgLeadDays: counts.lead_count === 0 ? null : roundToHundredths(counts.lead_ms / counts.lead_count / DAY_MS),
    },
    daily: fillDays(counts.days, window),
    funnel,
  };
}

/**
 * From visits by furthest step (`furthest` in funnel/record/counters.ts) to visits that reached each step: never more than reached
 * the step before.
 */
export function toFunnel(reached: readonly number[]): Record<FunnelStep, number> {
  const steps = FUNNEL_STEPS.map((step, index) => {
    const visits = reached.slice(index).reduce((sum, count) => sum + count, 0);
    return [step, visits] as const;
  });
  return Object.fromEntries(steps) as Record<FunnelStep, number>;
}

/** Exactly `days` entries that end with the window's last day, oldest first. */
export function fillDays(
  entries: readonly Analytics["daily"][number][],
  { to, days }: { to: string; days: number },
): Analytics["daily"] {
  const byDay = new Map(entries.map((entry) => [entry.day, entry]));
  return listDays(to, days).map((day) => byDay.get(day) ?? { day, views: 0, bookings: 0 });
}

/** At any moment, time zones span three calendar days; comparisons end on others. */
const TODAYS_KEPT = 20;
const knownDays = new RecentMap<string, readonly string[]>(TODAYS_KEPT);

/** The calendar days up to this one. Every request needs the same few lists, and making one takes a millisecond. */
function listDays(today: string, days: number): readonly string[] {
  let known = knownDays.get(today);
  if (!known || known.length < days) {
    const length = Math.max(days, WINDOW_DAYS_MAX);
    known = Array.from({ length }, (_, index) => addDays(today, index + 1 - length));
    knownDays.set(today, known);
  }
  return known.slice(known.length - days);
}

/** The largest value of each column. */
export function findMost(rows: Iterable<Pick<KeyCounts, "views" | "bookings">>): AppBreakdown["most"] {
  const most = { views: 0, bookings: 0, conversionRate: 0 };
  for (const { views, bookings } of rows) {
    most.views = Math.max(most.views, views);
    most.bookings = Math.max(most.bookings, bookings);
    most.conversionRate = Math.max(most.conversionRate, toRate(bookings, views));
  }
  return most;
}

export function toEntry({ key, views, bookings }: KeyCounts): AnalyticsEntry {
  return { key, views, bookings, conversionRate: toRate(bookings, views) };
}

/** Views and bookings can fall on different days, so a window can contain more bookings than views. */
function toRate(bookings: number, views: number): number {
  return views === 0 ? 0 : Math.min(1, bookings / views);
}

function roundToHundredths(value: number): number {
  return Math.round(value * 100) / 100;
}
