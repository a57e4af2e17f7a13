// What analytics are broken down and filtered by.

export const DIMENSIONS = ["channel", "source", "campaign", "page", "device", "country", "widget", "service"] as const;
export type Dimension = (typeof DIMENSIONS)[number];

/** The key of visits without a campaign, page, device or country, and of bookings without a service. */
export const NOT_SET = "(not set)";

/** The query parameter that leaves out visits with a key: `notCountry=DE`. */
export function toNegatedName(dimension: Dimension): `not${Capitalize<Dimension>}` {
  return `not${dimension.charAt(0).toUpperCase()}${dimension.slice(1)}` as `not${Capitalize<Dimension>}`;
}

/** Values per filter parameter, and characters per value. */
export const FILTER_VALUES_MAX = 20;
export const FILTER_LENGTH_MAX = 1_000;
