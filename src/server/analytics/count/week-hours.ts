import { TIME_KEYS } from "#contract/dimensions.ts";
import type { Filter } from "../report/filters.ts";

export const DAY_HOURS = 24;
const WEEK_HOURS = 7 * DAY_HOURS;
/** 1 January 1970 was a Thursday; hours of a week are counted from Monday. */
const HOURS_FROM_MONDAY = 3 * DAY_HOURS;

/** The hour of the week of a local hour since 1970. */
export function toWeekHour(localHour: number): number {
  return (localHour + HOURS_FROM_MONDAY) % WEEK_HOURS;
}

/** For each hour of a week, 1 if filters by weekday and hour let it count, else 0. Null without such filters. */
export function toCountedHours(filters: readonly Filter[]): Uint8Array | null {
  const times = filters.filter(({ dimension }) => dimension === "weekday" || dimension === "hour");
  if (times.length === 0) return null;
  return Uint8Array.from({ length: WEEK_HOURS }, (_, weekHour) => {
    const keys = {
      weekday: TIME_KEYS.weekday[Math.floor(weekHour / DAY_HOURS)] as string,
      hour: TIME_KEYS.hour[weekHour % DAY_HOURS] as string,
    };
    const isCounted = times.every(
      (filter) => filter.keys.includes(keys[filter.dimension as keyof typeof keys]) !== filter.isNegated,
    );
    return Number(isCounted);
  });
}
