import type { AppAnalytics } from "#contract/app/analytics.ts";
import { DAY_MS, HOUR_MS } from "#contract/durations.ts";
import { DAY_HOURS, toWeekHour } from "./match-filters.ts";
import type { VisitCounts } from "./visit-counts.ts";

// From counts of local hours to days, hours of the day, and hours of the week.

export function toHours(counts: VisitCounts): NonNullable<AppAnalytics["hourly"]> {
  return listHours(counts).map(({ hour, ...entry }) => ({ hour: toText(hour * HOUR_MS, "YYYY-MM-DDTHH"), ...entry }));
}

/** Seven rows from Monday to Sunday, each with 24 hours. */
export function toWeek({ firstHour }: VisitCounts, counts: Float64Array): number[][] {
  const week = Array.from({ length: 7 }, () => new Array<number>(DAY_HOURS).fill(0));
  counts.forEach((count, i) => {
    const hour = toWeekHour(firstHour + i);
    const day = week[Math.floor(hour / DAY_HOURS)];
    if (day) day[hour % DAY_HOURS] = (day[hour % DAY_HOURS] ?? 0) + count;
  });
  return week;
}

/** All days from the first one that is counted, which is a number of days since 1970. */
export function toDays({ firstHour, hourViews, hourBookings }: VisitCounts): {
  firstDay: number;
  days: { views: number; bookings: number }[];
} {
  const firstDay = Math.floor(firstHour / DAY_HOURS);
  const days: { views: number; bookings: number }[] = [];
  for (let i = 0; i < hourViews.length; ) {
    const next = Math.min((firstDay + days.length + 1) * DAY_HOURS - firstHour, hourViews.length);
    let [views, bookings] = [0, 0];
    for (; i < next; i++) {
      views += hourViews[i] as number;
      bookings += hourBookings[i] as number;
    }
    days.push({ views, bookings });
  }
  return { firstDay, days };
}

/** The first day with views or bookings; null if none has any. */
export function findFirstDay(counts: VisitCounts): string | null {
  const { firstDay, days } = toDays(counts);
  const index = days.findIndex(({ views, bookings }) => views + bookings > 0);
  return index === -1 ? null : toText((firstDay + index) * DAY_MS, "YYYY-MM-DD");
}

type Hour = { hour: number; views: number; bookings: number };

/** Hours without views and bookings are left out. */
function listHours({ firstHour, hourViews, hourBookings }: VisitCounts): Hour[] {
  return Array.from(hourViews, (views, i) => ({ hour: firstHour + i, views, bookings: hourBookings[i] ?? 0 })).filter(
    ({ views, bookings }) => views + bookings > 0,
  );
}

function toText(localMs: number, form: string): string {
  return new Date(localMs).toISOString().slice(0, form.length);
}
