import { TIME_KEYS, toLeadGroup } from "#contract/dimensions.ts";
import type { VisitPack } from "../packs/visit-pack.ts";
import type { Filter } from "../report/filters.ts";

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
