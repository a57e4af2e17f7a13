import type { Analytics, AnalyticsEntry } from "#contract/analytics/analytics.ts";
import { FUNNEL_STEPS, type FunnelStep } from "#contract/analytics/steps.ts";
import type { AppBreakdown } from "#contract/app/analytics.ts";
import { DAY_MS } from "#contract/durations.ts";
import { parseTimeZone } from "../../lib/time/calendar.ts";
import { readZoneRules, toDayText, type ZoneRules } from "../../lib/time/zone-rules.ts";
import { toDays } from "../count/to-counts.ts";
import type { VisitCounts } from "../count/visit-counts.ts";
import type { NamedCounts } from "./lists.ts";

/** UTC if the organization has set no time zone, or one that this runtime doesn't know. */
export function toShownZone(timeZone: string | null): { zone: string; rules: ZoneRules } {
  const zone = parseTimeZone(timeZone ?? "UTC") ?? "UTC";
  return { zone, rules: readZoneRules(zone) };
}

type DayReport = Omit<Analytics, "channels" | "sources" | "campaigns">;

/** The contract's result without its lists: fills in zero days, adds up visits along the funnel, computes rates and averages. */
export function toDayReport(
  counts: VisitCounts,
  { zone, to, days }: { zone: string; to: string; days: number },
): DayReport {
  const funnel = toFunnel(counts.reached);
  const views = funnel.widget_viewed;
  const daily = listDaily(counts, { to, days });
  const bookings = sum(daily.map((day) => day.bookings));
  const leads = sum(counts.leadTimes);
  return {
    days,
    timeZone: zone,
    totals: {
      views,
      slotSessions: funnel.slot_selected,
      formSessions: funnel.form_started,
      bookings,
      failed: counts.failed,
      noAvailability: counts.noAvailability,
      conversionRate: toRate(bookings, views),
      avgLeadDays: leads === 0 ? null : roundToHundredths(counts.leadMs / leads / DAY_MS),
    },
    daily,
    funnel,
  };
}

/** From visits by furthest step (record/merge-hits.ts) to visits that reached each step. */
export function toFunnel(reached: readonly number[]): Record<FunnelStep, number> {
  const steps = FUNNEL_STEPS.map((step, index) => {
    return [step, sum(reached.slice(index))] as const;
  });
  return Object.fromEntries(steps) as Record<FunnelStep, number>;
}

/** Exactly `days` entries that end with the window's last day, oldest first. */
function listDaily(counts: VisitCounts, { to, days }: { to: string; days: number }): Analytics["daily"] {
  const counted = toDays(counts);
  const first = Date.parse(to) / DAY_MS + 1 - days;
  return Array.from({ length: days }, (_, i) => ({
    day: toDayText(first + i),
    ...(counted.days[first + i - counted.firstDay] ?? { views: 0, bookings: 0 }),
  }));
}

export function findMost(rows: Iterable<Pick<NamedCounts, "views" | "bookings">>): AppBreakdown["most"] {
  const most = { views: 0, bookings: 0, conversionRate: 0 };
  for (const { views, bookings } of rows) {
    most.views = Math.max(most.views, views);
    most.bookings = Math.max(most.bookings, bookings);
    most.conversionRate = Math.max(most.conversionRate, toRate(bookings, views));
  }
  return most;
}

export function toEntry({ key, views, bookings }: NamedCounts): AnalyticsEntry {
  return { key, views, bookings, conversionRate: toRate(bookings, views) };
}

/** Views and bookings can fall on different days, so a window can contain more bookings than views. */
function toRate(bookings: number, views: number): number {
  return views === 0 ? 0 : Math.min(1, bookings / views);
}

function sum(counts: Iterable<number>): number {
  let total = 0;
  for (const count of counts) total += count;
  return total;
}

function roundToHundredths(value: number): number {
  return Math.round(value * 100) / 100;
}
