import type { Dimension } from "#contract/dimensions.ts";
import type { Column, VisitPack } from "../../funnel/packs/visit-pack.ts";
import { toKeyId } from "../../funnel/record/key-id.ts";
import { isKeyed, toStoredKey } from "../dimension-keys.ts";
import type { Filter } from "../filters.ts";

/** What a pack has instead of a filter's texts: numbers for keys, texts for widgets and services. */
type PackFilter = { dimension: Dimension; isNegated: boolean; values: ReadonlySet<number | string> };

export function toPackFilter({ dimension, isNegated, keys }: Filter): PackFilter {
  const values = isKeyed(dimension) ? keys.map((key) => toKeyId(dimension, toStoredKey(dimension, key))) : keys;
  return { dimension, isNegated, values: new Set<number | string>(values) };
}

/** The column of a dimension that each visit has one value of. */
export function toVisitColumn(pack: VisitPack, dimension: Exclude<Dimension, "service">): Column<number | string> {
  return dimension === "widget" ? pack.widgets : pack.keys[dimension];
}

/** Which of the pack's services count: filters by service choose bookings. */
export function matchServices({ bookings: { services } }: VisitPack, filters: readonly PackFilter[]): boolean[] {
  const flags = listServiceFilters(filters).map((filter) => flagValues(services, filter));
  return Array.from(services.values, (_, place) => flags.every((each) => each[place]));
}

/** Says for each visit whether it matches all filters: 1 if it does, else 0. */
export function matchVisits(
  pack: VisitPack,
  filters: readonly PackFilter[],
  { matches, serviceMatches }: { matches: Uint8Array; serviceMatches: readonly boolean[] },
): void {
  const ofServices = listServiceFilters(filters);
  matches.fill(1);
  if (ofServices.length > 0) {
    if (ofServices.some(({ isNegated }) => !isNegated)) matches.fill(0);
    matchBookings(pack, matches, serviceMatches);
  }
  for (const { dimension, isNegated, values } of filters) {
    if (dimension === "service") continue;
    const column = toVisitColumn(pack, dimension);
    const flags = flagValues(column, { isNegated, values });
    for (let i = 0; i < matches.length; i++) if (!flags[column.places[i] as number]) matches[i] = 0;
  }
}

/** A visit that booked matches if one of its bookings counts. */
function matchBookings(
  { bookings: { visits, services } }: VisitPack,
  matches: Uint8Array,
  serviceMatches: readonly boolean[],
): void {
  for (const visit of visits) matches[visit] = 0;
  visits.forEach((visit, i) => {
    if (serviceMatches[services.places[i] as number]) matches[visit] = 1;
  });
}

function listServiceFilters(filters: readonly PackFilter[]): PackFilter[] {
  return filters.filter(({ dimension }) => dimension === "service");
}

/** For each value of the column, whether visits with it match. */
function flagValues({ values: all }: Column<number | string>, filter: Omit<PackFilter, "dimension">): boolean[] {
  const flags: boolean[] = [];
  for (let i = 0; i < all.length; i++) flags.push(filter.values.has(all[i] as number | string) !== filter.isNegated);
  return flags;
}
