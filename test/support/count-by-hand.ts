import type { Analytics, AnalyticsEntry } from "#contract/analytics.ts";
import { DAY_MS } from "#contract/durations.ts";
import { FUNNEL_STEPS } from "#contract/steps.ts";
import { startsBefore } from "../../src/server/funnel/record/merge-touches.ts";
import { type Touch, toStepBit } from "../../src/server/funnel/record/touch.ts";

// The contract's analytics computed from the raw list of touches, the slow way: no counters, no increments, no SQL. The
// service's responses are compared with this.

type Visit = { start: Touch; furthest: number; foundNoTimes: boolean; touches: Touch[] };

export function countByHand(
  touches: readonly Touch[],
  window: { zone: string; now: Date; days: number; widgetId: string | null; keptSince?: Date },
): Analytics {
  const localDay = rememberDays(window.zone);
  const today = Temporal.PlainDate.from(localDay(window.now));
  const days = Array.from({ length: window.days }, (_, i) => today.subtract({ days: window.days - 1 - i }).toString());
  const keptDays = new Set(window.keptSince ? days.filter((day) => day >= localDay(window.keptSince as Date)) : days);
  const isInWindow = (instant: Date) => keptDays.has(localDay(instant));

  const mine = touches.filter((touch) => window.widgetId === null || touch.widgetId === window.widgetId);
  const visits = groupVisits(mine);
  const viewed = visits.filter((visit) => isInWindow(visit.start.at));
  const conversions = visits.flatMap((visit) => listConversions(visit).map((conversion) => ({ visit, ...conversion })));
  const converted = conversions.filter((conversion) => isInWindow(conversion.at));
  const booked = converted.filter((conversion) => conversion.step === "booking_completed");

  const reached = (position: number) => viewed.filter((visit) => visit.furthest >= position).length;
  const leads = booked.flatMap(({ at, startAt }) => (startAt ? [Math.max(0, startAt.getTime() - at.getTime())] : []));
  const listBy = (toKey: (visit: Visit) => string, most: number): AnalyticsEntry[] => {
    const keys = new Set([...viewed, ...booked.map(({ visit }) => visit)].map(toKey));
    return [...keys]
      .map((key) => {
        const views = viewed.filter((visit) => toKey(visit) === key).length;
        const bookings = booked.filter(({ visit }) => toKey(visit) === key).length;
        return { key, views, bookings, conversionRate: rate(bookings, views) };
      })
      .sort(
        (a, b) =>
          b.bookings - a.bookings || b.views - a.views || Buffer.compare(Buffer.from(a.key), Buffer.from(b.key)),
      )
      .slice(0, most);
  };
  return {
    days: window.days,
    timeZone: window.zone,
    totals: {
      views: viewed.length,
      slotSessions: reached(4),
      formSessions: reached(5),
      bookings: booked.length,
      failed: converted.length - booked.length,
      noAvailability: viewed.filter((visit) => visit.foundNoTimes).length,
      conversionRate: rate(booked.length, viewed.length),
      avgLeadDays: leads.length === 0 ? null : Math.round((sum(leads) / leads.length / DAY_MS) * 100) / 100,
    },
    daily: days.map((day) => ({
      day,
      views: viewed.filter((visit) => localDay(visit.start.at) === day).length,
      bookings: booked.filter(({ at }) => localDay(at) === day).length,
    })),
    funnel: {
      widget_viewed: reached(1),
      service_selected: reached(2),
      date_selected: reached(3),
      slot_selected: reached(4),
      form_started: reached(5),
      booking_completed: reached(6),
    },
    channels: listBy((visit) => visit.start.channel, 12),
    sources: listBy((visit) => `${visit.start.source} / ${visit.start.medium}`, 25),
    campaigns: listBy((visit) => visit.start.campaign, 25),
  };
}

/** Cached, because the same instants are converted repeatedly, which is slow. */
function rememberDays(zone: string): (instant: Date) => string {
  const known = new Map<number, string>();
  return (instant) => {
    const ms = instant.getTime();
    const day =
      known.get(ms) ?? Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO(zone).toPlainDate().toString();
    known.set(ms, day);
    return day;
  };
}

function groupVisits(touches: readonly Touch[]): Visit[] {
  const groups = Map.groupBy(touches, (touch) => `${touch.widgetId} ${touch.visitId}`);
  return [...groups.values()].map((group) => ({
    start: group.reduce((first, touch) => (startsBefore(touch, first) ? touch : first)),
    furthest: Math.max(
      1,
      ...FUNNEL_STEPS.map((step, i) => (group.some((t) => t.steps & toStepBit(step)) ? i + 1 : 0)),
      // A visitor who failed to book had picked a time and started the form.
      group.some((touch) => touch.steps & toStepBit("booking_failed")) ? 5 : 0,
    ),
    foundNoTimes: group.some((touch) => touch.steps & toStepBit("no_availability")),
    touches: group,
  }));
}

/** Each booking and each failed attempt once, at the earliest instant given for it. */
function listConversions(visit: Visit): { step: string; at: Date; startAt: Date | null }[] {
  const named = visit.touches.flatMap(({ at, conversion }) => (conversion ? [{ ...conversion, at }] : []));
  const groups = Map.groupBy(named, ({ step, key }) => `${step}:${key}`);
  const startMs = (startAt: Date | null) => startAt?.getTime() ?? Number.POSITIVE_INFINITY;
  return [...groups.values()].map((group) =>
    group.reduce((first, next) =>
      next.at < first.at || (next.at.getTime() === first.at.getTime() && startMs(next.startAt) < startMs(first.startAt))
        ? next
        : first,
    ),
  );
}

function rate(bookings: number, views: number): number {
  return views === 0 ? 0 : Math.min(1, bookings / views);
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
