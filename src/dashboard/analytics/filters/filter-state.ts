import {
  FILTER_DIMENSIONS,
  FILTER_LENGTH_MAX,
  FILTER_VALUES_MAX,
  type FilterDimension,
  isTimeDimension,
  TIME_KEYS,
  toNegatedName,
  toUsualCase,
} from "#contract/analytics/dimensions.ts";

// Filters in the address: one parameter per dimension, repeated for several keys. In the screen's state, several keys are one
// text with line breaks (routes.tsx), which no key contains.

/** Visits with one of the keys, or without all of them. */
export type ShownFilter = { dimension: FilterDimension; isNegated: boolean; keys: readonly string[] };

export const FILTER_DEFAULTS = Object.fromEntries(
  FILTER_DIMENSIONS.flatMap((dimension) => [
    [dimension, ""],
    [toNegatedName(dimension), ""],
  ]),
) as Record<FilterDimension | ReturnType<typeof toNegatedName>, string>;

type FilterState = typeof FILTER_DEFAULTS;

export function listFilters(state: FilterState): ShownFilter[] {
  return FILTER_DIMENSIONS.flatMap((dimension) =>
    [false, true].flatMap((isNegated) => {
      const keys = splitKeys(state[toName({ dimension, isNegated })]);
      return keys.length === 0 ? [] : [{ dimension, isNegated, keys }];
    }),
  );
}

/** Whether the dimension's filters, if any, include visits with this key. */
export function passesFilters(
  state: FilterState,
  { dimension, key }: { dimension: FilterDimension; key: string },
): boolean {
  const filters = listFilters(state).filter((filter) => filter.dimension === dimension);
  return filters.every(({ keys, isNegated }) => keys.includes(key) !== isNegated);
}

/** Whether visits that didn't book are left out: they have no service and no lead time, so only "is not" includes them. */
export function countsOnlyBookedVisits(state: FilterState): boolean {
  return state.service !== "" || state.leadTime !== "";
}

/** Whether a filter has as many keys as the server accepts. */
export function isFull(state: FilterState, filter: Omit<ShownFilter, "keys">): boolean {
  return splitKeys(state[toName(filter)]).length >= FILTER_VALUES_MAX;
}

/** Adds a key, or removes it if it is there. A key is never both shown and left out. */
export function toggleKey(
  state: FilterState,
  { key, ...filter }: Omit<ShownFilter, "keys"> & { key: string },
): Partial<FilterState> {
  const keys = splitKeys(state[toName(filter)]);
  const others = keys.filter((each) => each !== key);
  return setFilter(state, { ...filter, keys: others.length === keys.length ? [...keys, key] : others });
}

/** Gives a filter these keys; none removes it. */
export function setFilter(state: FilterState, filter: ShownFilter): Partial<FilterState> {
  const opposite = toName({ ...filter, isNegated: !filter.isNegated });
  const left = splitKeys(state[opposite]).filter((key) => !filter.keys.includes(key));
  return { [toName(filter)]: filter.keys.join("\n"), [opposite]: left.join("\n") };
}

/** Replaces a filter by another one of its dimension. What the other one had before stays in it. */
export function replaceFilter(state: FilterState, was: ShownFilter, next: ShownFilter): Partial<FilterState> {
  if (was.isNegated === next.isNegated) return setFilter(state, next);
  const keys = new Set([...splitKeys(state[toName(next)]), ...next.keys]);
  return { [toName(was)]: "", [toName(next)]: [...keys].join("\n") };
}

export function toFilterParameters(state: FilterState): Record<string, readonly string[]> {
  return Object.fromEntries(listFilters(state).map((filter) => [toName(filter), filter.keys]));
}

/** The filters as a query string, as segments are saved. */
export function toFilterQuery(state: FilterState): string {
  const named = Object.entries(toFilterParameters(state)).flatMap(([name, keys]) => keys.map((key) => [name, key]));
  return new URLSearchParams(named).toString();
}

/** The filters of such a query string, and no others. */
export function parseFilterQuery(query: string): FilterState {
  const parameters = new URLSearchParams(query);
  const names = Object.keys(FILTER_DEFAULTS) as (keyof FilterState)[];
  const state = Object.fromEntries(names.map((name) => [name, parameters.getAll(name).join("\n")]));
  return cleanFilters(state as FilterState);
}

/** Leaves out what the server would refuse, and writes the rest as the lists do: addresses are edited, cut and passed on. */
export function cleanFilters(state: FilterState): FilterState {
  const cleaned = FILTER_DIMENSIONS.flatMap((dimension) =>
    [false, true].map((isNegated) => {
      const name = toName({ dimension, isNegated });
      const keys = splitKeys(state[name]).map((key) => toUsualCase(dimension, key));
      return [name, [...new Set(keys)].filter(toCheck(dimension)).slice(0, FILTER_VALUES_MAX)] as const;
    }),
  );
  return Object.fromEntries(cleaned.map(([name, keys]) => [name, keys.join("\n")])) as FilterState;
}

function toCheck(dimension: FilterDimension): (key: string) => boolean {
  if (!isTimeDimension(dimension)) return (key) => key.length <= FILTER_LENGTH_MAX && !key.includes("\0");
  const known: readonly string[] = TIME_KEYS[dimension];
  return (key) => known.includes(key);
}

function toName({ dimension, isNegated }: Pick<ShownFilter, "dimension" | "isNegated">): keyof FilterState {
  return isNegated ? toNegatedName(dimension) : dimension;
}

export function splitKeys(text: string): string[] {
  return text.split("\n").filter(Boolean);
}
