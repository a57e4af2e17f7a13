import type { Analytics, AnalyticsEntry } from "#contract/analytics/analytics.ts";
import {
  DIMENSIONS,
  type Dimension,
  isTimeDimension,
  LEAD_DAYS,
  NOT_SET,
  TIME_KEYS,
} from "#contract/analytics/dimensions.ts";
import { FUNNEL_STEPS } from "#contract/analytics/steps.ts";
import { DAY_MS } from "#contract/durations.ts";
import { type Hit, toStepBit } from "../../../src/server/analytics/record/hit.ts";
import { startsBefore } from "../../../src/server/analytics/record/merge-hits.ts";
import type { Filter } from "../../../src/server/analytics/report/filters.ts";

// The contract's analytics computed from the raw list of hits, the slow way: no packs, no totals, no SQL. The
// service's responses are compared with this.

type Visit = { start: Hit; furthest: number; foundNoTimes: boolean; hits: Hit[] };

type HandWindow = {
  zone: string;
  now: Date;
  days: number;
  widgetId: string | null;
  keptSince?: Date;
  filters?: readonly Filter[];
  /** Leaves out what happened on the last day at this time of day or later, in milliseconds. */
  untilTimeMs?: number;
};

export function countByHand(hits: readonly Hit[], window: HandWindow): Analytics {
  return countAllByHand(hits, window).analytics;
}

/** The same, with everything else that a report shows. */
export function countAllByHand(hits: readonly Hit[], window: HandWindow) {
  const localDay = rememberDays(window.zone);
  const today = Temporal.PlainDate.from(localDay(window.now));
  const days = Array.from({ length: window.days }, (_, i) => today.subtract({ days: window.days - 1 - i }).toString());
  const keptDays = new Set(window.keptSince ? days.filter((day) => day >= localDay(window.keptSince as Date)) : days);
  const localTime = (instant: Date) =>
    Temporal.Instant.fromEpochMilliseconds(instant.getTime()).toZonedDateTimeISO(window.zone);
  const isCutOff = (instant: Date) =>
    window.untilTimeMs !== undefined &&
    localDay(instant) === today.toString() &&
    localTime(instant).toPlainTime().since("00:00").total("milliseconds") >= window.untilTimeMs;
  const filters = window.filters ?? [];
  const isAtRightTime = (instant: Date) =>
    filters.every(({ dimension, isNegated, keys }) => {
      if (dimension !== "weekday" && dimension !== "hour") return true;
      const { dayOfWeek, hour } = localTime(instant);
      const key = dimension === "hour" ? String(hour) : TIME_KEYS.weekday[dayOfWeek - 1];
      return keys.some((each) => each === key) !== isNegated;
    });
  const isInWindow = (instant: Date) => keptDays.has(localDay(instant)) && !isCutOff(instant) && isAtRightTime(instant);

  const mine = hits.filter((hit) => window.widgetId === null || hit.widgetId === window.widgetId);
  const visits = groupVisits(mine).filter((visit) => matches(visit, filters));
  const viewed = visits.filter((visit) => isInWindow(visit.start.at));
  const conversions = visits.flatMap((visit) => listConversions(visit).map((conversion) => ({ visit, ...conversion })));
  const converted = conversions.filter((conversion) => isInWindow(conversion.at));
  const booked = converted.filter(
    (conversion) =>
      conversion.step === "booking_completed" && filters.every((filter) => bookingMatches(conversion, filter)),
  );
  const failed = converted.filter((conversion) => conversion.step === "booking_failed");

  const reached = (position: number) => viewed.filter((visit) => visit.furthest >= position).length;
  const leads = booked.flatMap(({ at, startAt }) => (startAt ? [Math.max(0, startAt.getTime() - at.getTime())] : []));
  const listBy = (toKey: (visit: Visit) => string, most: number): AnalyticsEntry[] => {
    const keys = new Set([...viewed, ...booked.map(({ visit }) => visit)].map(toKey));
    const entries = [...keys].map((key) => {
      const views = viewed.filter((visit) => toKey(visit) === key).length;
      const bookings = booked.filter(({ visit }) => toKey(visit) === key).length;
      return { key, views, bookings, conversionRate: rate(bookings, views) };
    });
    return sortEntries(entries).slice(0, most);
  };
  const viewedByDay = Map.groupBy(viewed, (visit) => localDay(visit.start.at));
  const bookedByDay = Map.groupBy(booked, ({ at }) => localDay(at));
  const analytics: Analytics = {
    days: window.days,
    timeZone: window.zone,
    totals: {
      views: viewed.length,
      slotSessions: reached(4),
      formSessions: reached(5),
      bookings: booked.length,
      failed: failed.length,
      noAvailability: viewed.filter((visit) => visit.foundNoTimes).length,
      conversionRate: rate(booked.length, viewed.length),
      avgLeadDays: leads.length === 0 ? null : Math.round((sum(leads) / leads.length / DAY_MS) * 100) / 100,
    },
    daily: days.map((day) => ({
      day,
      views: viewedByDay.get(day)?.length ?? 0,
      bookings: bookedByDay.get(day)?.length ?? 0,
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
  const listServices = (): AnalyticsEntry[] => {
    const ofViews = viewed.flatMap((visit) => {
      const shown = listBookings(visit).filter((booking) => filters.every((filter) => bookingMatches(booking, filter)));
      return [...new Set(shown.map(({ service }) => service ?? NOT_SET))];
    });
    const ofBookings = booked.map(({ service }) => service ?? NOT_SET);
    return sortEntries(
      [...new Set([...ofViews, ...ofBookings])].map((key) => {
        const views = ofViews.filter((each) => each === key).length;
        const bookings = ofBookings.filter((each) => each === key).length;
        return { key, views, bookings, conversionRate: rate(bookings, views) };
      }),
    );
  };
  const weekHours = (instants: readonly Date[]) => {
    const times = instants.map(localTime).map(({ dayOfWeek, hour }) => ({ dayOfWeek, hour }));
    const week = Array.from({ length: 7 }, () => new Array<number>(24).fill(0));
    return week.map((hours, day) =>
      hours.map((_, hour) => times.filter((at) => at.dayOfWeek === day + 1 && at.hour === hour).length),
    );
  };
  // Most tests compare only the analytics, and the rest takes far longer to count.
  return {
    analytics,
    get lists() {
      return Object.fromEntries(
        DIMENSIONS.map((dimension) => [
          dimension,
          dimension === "service"
            ? listServices()
            : listBy((visit) => keyOf(visit, dimension), Number.POSITIVE_INFINITY),
        ]),
      ) as Record<Dimension, AnalyticsEntry[]>;
    },
    get viewsByHour() {
      return weekHours(viewed.map(({ start }) => start.at));
    },
    get bookingsByHour() {
      return weekHours(booked.map(({ at }) => at));
    },
    leadTimes: [...LEAD_DAYS, Number.POSITIVE_INFINITY].map(
      (days, i) => leads.filter((ms) => ms < days * DAY_MS && ms >= (LEAD_DAYS[i - 1] ?? 0) * DAY_MS).length,
    ),
    reachedBy: (dimension: Exclude<Dimension, "service">, key: string) =>
      FUNNEL_STEPS.map((_, i) => viewed.filter((v) => keyOf(v, dimension) === key && v.furthest >= i + 1).length),
  };
}

function keyOf({ start }: Visit, dimension: Exclude<Dimension, "service">): string {
  if (dimension === "source") return `${start.source} / ${start.medium}`;
  return (dimension === "widget" ? start.widgetId : start[dimension]) || NOT_SET;
}

function listBookings(visit: Visit) {
  return listConversions(visit).filter(({ step }) => step === "booking_completed");
}

type Booking = ReturnType<typeof listConversions>[number];

/** A visit that booked matches if one of its bookings matches; one that didn't, if nothing is asked of bookings. */
function matches(visit: Visit, filters: readonly Filter[]): boolean {
  const bookings = listBookings(visit);
  const hasMatch =
    bookings.length > 0
      ? bookings.some((booking) => filters.every((filter) => bookingMatches(booking, filter)))
      : filters.every(({ dimension, isNegated }) => isNegated || (dimension !== "service" && dimension !== "leadTime"));
  return hasMatch && filters.every((filter) => visitMatches(visit, filter));
}

/** True for filters that aren't about visits. */
function visitMatches(visit: Visit, { dimension, isNegated, keys }: Filter): boolean {
  if (dimension === "service" || isTimeDimension(dimension)) return true;
  return keys.includes(keyOf(visit, dimension)) !== isNegated;
}

/** True for filters that aren't about bookings. */
function bookingMatches({ service, at, startAt }: Booking, { dimension, isNegated, keys }: Filter): boolean {
  if (dimension === "service") return keys.includes(service ?? NOT_SET) !== isNegated;
  if (dimension !== "leadTime") return true;
  const days = startAt ? Math.max(0, startAt.getTime() - at.getTime()) / DAY_MS : Number.NaN;
  return keys.some((key) => isInGroup(days, key)) !== isNegated;
}

/** Keys are "1", "2-3" or "31-or-more"; "2-3" ends where the fourth day begins. */
function isInGroup(days: number, key: string): boolean {
  const [first = "", last = first] = key.split("-");
  return days >= Number(first) && (last === "or" || days < Number(last) + 1);
}

function sortEntries(entries: AnalyticsEntry[]): AnalyticsEntry[] {
  return entries.sort(
    (a, b) => b.bookings - a.bookings || b.views - a.views || Buffer.compare(Buffer.from(a.key), Buffer.from(b.key)),
  );
}

/** By time zone. The same instants are converted repeatedly, which is slow. */
const knownDays = new Map<string, Map<number, string>>();

function rememberDays(zone: string): (instant: Date) => string {
  const known = knownDays.get(zone) ?? new Map<number, string>();
  knownDays.set(zone, known);
  return (instant) => {
    const ms = instant.getTime();
    const day =
      known.get(ms) ?? Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO(zone).toPlainDate().toString();
    known.set(ms, day);
    return day;
  };
}

function groupVisits(hits: readonly Hit[]): Visit[] {
  const groups = Map.groupBy(hits, (hit) => `${hit.widgetId} ${hit.visitId}`);
  return [...groups.values()].map((group) => ({
    start: group.reduce((first, hit) => (startsBefore(hit, first) ? hit : first)),
    furthest: Math.max(
      1,
      ...FUNNEL_STEPS.map((step, i) => (group.some((t) => t.steps & toStepBit(step)) ? i + 1 : 0)),
      // A visitor who failed to book had picked a time and started the form.
      group.some((hit) => hit.steps & toStepBit("booking_failed")) ? 5 : 0,
    ),
    foundNoTimes: group.some((hit) => hit.steps & toStepBit("no_availability")),
    hits: group,
  }));
}

/** Each booking and each failed attempt once, at the earliest instant given for it. */
function listConversions(visit: Visit): { step: string; at: Date; startAt: Date | null; service?: string }[] {
  const named = visit.hits.flatMap(({ at, conversion }) => (conversion ? [{ ...conversion, at }] : []));
  const groups = Map.groupBy(named, ({ step, key }) => `${step}:${key}`);
  // Ties: shorter lead time first, then service name; known values before unknown.
  const leadMs = (each: Named) =>
    each.startAt ? Math.max(0, each.startAt.getTime() - each.at.getTime()) : Number.POSITIVE_INFINITY;
  const byService = (a: Named, b: Named) =>
    a.service === undefined || b.service === undefined
      ? Number(a.service === undefined) - Number(b.service === undefined)
      : Buffer.compare(Buffer.from(a.service), Buffer.from(b.service));
  type Named = (typeof named)[number];
  const compare = (a: Named, b: Named) =>
    a.at.getTime() - b.at.getTime() || Math.sign(toFinite(leadMs(a) - leadMs(b))) || byService(a, b);
  return [...groups.values()].map((group) => group.reduce((first, next) => (compare(next, first) < 0 ? next : first)));
}

/** Infinity − Infinity is NaN. */
function toFinite(difference: number): number {
  return Number.isNaN(difference) ? 0 : difference;
}

function rate(bookings: number, views: number): number {
  return views === 0 ? 0 : Math.min(1, bookings / views);
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
