import { DIMENSIONS, type Dimension, toNegatedName } from "#contract/dimensions.ts";

// Filters in the address: one parameter per dimension, repeated for several keys. In the screen's state, several keys are one
// text with line breaks (routes.tsx), which no key contains.

export type ShownFilter = { dimension: Dimension; key: string; isNegated: boolean };

export const FILTER_DEFAULTS = Object.fromEntries(
  DIMENSIONS.flatMap((dimension) => [
    [dimension, ""],
    [toNegatedName(dimension), ""],
  ]),
) as Record<Dimension | ReturnType<typeof toNegatedName>, string>;

type FilterState = typeof FILTER_DEFAULTS;

export function listFilters(state: FilterState): ShownFilter[] {
  return DIMENSIONS.flatMap((dimension) =>
    [false, true].flatMap((isNegated) =>
      splitKeys(state[toName({ dimension, isNegated })]).map((key) => ({ dimension, key, isNegated })),
    ),
  );
}

/** Adds the filter, or removes it if it is there. A key is never both shown and left out. */
export function toggleFilter(state: FilterState, filter: ShownFilter): Partial<FilterState> {
  const [name, opposite] = [toName(filter), toName({ ...filter, isNegated: !filter.isNegated })];
  const keys = splitKeys(state[name]);
  const others = keys.filter((key) => key !== filter.key);
  return {
    [name]: (others.length === keys.length ? [...keys, filter.key] : others).join("\n"),
    [opposite]: splitKeys(state[opposite])
      .filter((key) => key !== filter.key)
      .join("\n"),
  };
}

/** "is" becomes "is not", and back. */
export function negateFilter(state: FilterState, filter: ShownFilter): Partial<FilterState> {
  return toggleFilter(state, { ...filter, isNegated: !filter.isNegated });
}

/** The filters as query parameters of a request. */
export function toFilterParameters(state: FilterState): Record<string, string[]> {
  const names = Object.keys(FILTER_DEFAULTS) as (keyof FilterState)[];
  return Object.fromEntries(
    names.map((name) => [name, splitKeys(state[name])] as const).filter(([, keys]) => keys.length),
  );
}

function toName({ dimension, isNegated }: Pick<ShownFilter, "dimension" | "isNegated">): keyof FilterState {
  return isNegated ? toNegatedName(dimension) : dimension;
}

function splitKeys(text: string): string[] {
  return text.split("\n").filter(Boolean);
}
