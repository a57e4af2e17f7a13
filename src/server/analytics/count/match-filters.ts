import { type Dimension, TIME_KEYS, toLeadGroup } from "#contract/analytics/dimensions.ts";
import type { Column, VisitPack } from "../packs/visit-pack.ts";
import { isKeyed, toKeyId, toStoredKey } from "../record/key-id.ts";
import type { Filter } from "../report/filters.ts";

type VisitDimension = Exclude<Dimension, "service">;

/** What a pack has instead of a filter's texts: numbers for keys, texts for widgets. */
type VisitFilter = { dimension: VisitDimension; isNegated: boolean; values: ReadonlySet<number | string> };

export function toVisitFilters(filters: readonly Filter[]): VisitFilter[] {
  return filters.flatMap(({ dimension, isNegated, keys }) => {
    if (dimension !== "widget" && !isKeyed(dimension)) return [];
    const values = isKeyed(dimension) ? keys.map((key) => toKeyId(dimension, toStoredKey(dimension, key))) : keys;
    return [{ dimension, isNegated, values: new Set<number | string>(values) }];
  });
}

export function toVisitColumn(pack: VisitPack, dimension: VisitDimension): Column<number | string> {
  return dimension === "widget" ? pack.widgets : pack.keys[dimension];
}

/** Says for each visit whether it matches all filters: 1 if it does, else 0. */
export function matchVisits(pack: VisitPack, filters: readonly VisitFilter[], matches: Uint8Array): void {
  matches.fill(1);
  for (const { dimension, isNegated, values } of filters) {
    const column = toVisitColumn(pack, dimension);
    const flags: boolean[] = [];
    for (let i = 0; i < column.values.length; i++)
      flags.push(values.has(column.values[i] as number | string) !== isNegated);
    for (let i = 0; i < matches.length; i++) if (!flags[column.places[i] as number]) matches[i] = 0;
  }
}

// Filters by service and lead time choose bookings. A visit that booked matches if one of its bookings matches all of them. A
// visit without bookings matches only if all these filters are exclusions.

type BookingFilter = { dimension: "service" | "leadTime"; isNegated: boolean; keys: ReadonlySet<string> };

export function toBookingFilters(filters: readonly Filter[]): BookingFilter[] {
  return filters.flatMap(({ dimension, isNegated, keys }) =>
    dimension === "service" || dimension === "leadTime" ? [{ dimension, isNegated, keys: new Set(keys) }] : [],
  );
}

/** Says for each booking whether it matches, and leaves out visits that don't. Null without filters: then all match. */
export function matchBookings(
  pack: VisitPack,
  filters: readonly BookingFilter[],
  visitMatches: Uint8Array,
): Uint8Array | null {
  if (filters.length === 0) return null;
  const { visits } = pack.bookings;
  const matches = new Uint8Array(visits.length).fill(1);
  for (const filter of filters) {
    const hasKey = toTest(pack, filter);
    for (let i = 0; i < visits.length; i++) if (hasKey(i) === filter.isNegated) matches[i] = 0;
  }
  const chosen = new Uint8Array(visitMatches.length).fill(filters.every(({ isNegated }) => isNegated) ? 1 : 0);
  for (let i = 0; i < visits.length; i++) chosen[visits[i] as number] = 0;
  for (let i = 0; i < visits.length; i++) if (matches[i] === 1) chosen[visits[i] as number] = 1;
  for (let i = 0; i < chosen.length; i++) if (chosen[i] === 0) visitMatches[i] = 0;
  return matches;
}

/** Whether the booking at this index has one of the filter's keys. */
function toTest({ bookings }: VisitPack, { dimension, keys }: BookingFilter): (booking: number) => boolean {
  const { leadMs, services } = bookings;
  if (dimension === "leadTime") {
    const isChosen = TIME_KEYS.leadTime.map((key) => keys.has(key));
    return (booking) => isChosen[toLeadGroup(leadMs[booking] as number)] ?? false;
  }
  const isChosen = Array.from(services.values, (service) => keys.has(service));
  return (booking) => isChosen[services.places[booking] as number] ?? false;
}

export const DAY_HOURS = 24;
const WEEK_HOURS = 7 * DAY_HOURS;
/** 1 January 1970 was a Thursday; hours of a week are counted from Monday. */
const HOURS_FROM_MONDAY = 3 * DAY_HOURS;

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
