import type { Analytics } from "#contract/analytics.ts";
import type { AppAnalytics } from "#contract/app/analytics.ts";
import { DAY_MS, HOUR_MS } from "#contract/durations.ts";
import type { VisitCounts } from "./visit-counts.ts";
import { DAY_HOURS, toWeekHour } from "./week-hours.ts";

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

/** Days without views and bookings are left out. */
export function toDays({ firstHour, hourViews, hourBookings }: VisitCounts): Analytics["daily"] {
  const days: Analytics["daily"] = [];
  for (let i = 0; i < hourViews.length; ) {
    const number = Math.floor((firstHour + i) / DAY_HOURS);
    const next = Math.min((number + 1) * DAY_HOURS - firstHour, hourViews.length);
    let [views, bookings] = [0, 0];
    for (; i < next; i++) {
      views += hourViews[i] as number;
      bookings += hourBookings[i] as number;
    }
    if (views + bookings > 0) days.push({ day: toText(number * DAY_MS, "YYYY-MM-DD"), views, bookings });
  }
  return days;
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
