import fc from "fast-check";
import {
  FILTER_DIMENSIONS,
  type FilterDimension,
  NOT_SET,
  TIME_KEYS,
  toNegatedName,
} from "#contract/analytics/dimensions.ts";
import type { WidgetId } from "#contract/ids.ts";
import type { Filter } from "../../../src/server/analytics/report/filters.ts";

// Random filters by the keys of random-hits.ts, and by keys that no visit has.

const KEYS: Readonly<Record<Exclude<FilterDimension, "widget">, readonly string[]>> = {
  channel: ["Direct", "Email", "Unassigned", "Nothing like it"],
  source: ["google / cpc", "(direct) / (none)", "ñandú 🦤 / qr"],
  campaign: ["Autumn", "(not set)", "autumn"],
  page: ["https://example.com/book", NOT_SET],
  device: ["mobile", "desktop"],
  country: ["DE", "AT", NOT_SET],
  service: ["Check-up", "Zahnreinigung 🦷", NOT_SET],
  ...TIME_KEYS,
};
/** One of 24 hours would leave nothing to compare. */
const HOURS_CHOSEN_MAX = 12;

export function oneFilter(widgets: readonly WidgetId[]): fc.Arbitrary<Filter> {
  return fc.constantFrom(...FILTER_DIMENSIONS).chain((dimension) =>
    fc.record({
      dimension: fc.constant(dimension),
      isNegated: fc.boolean(),
      keys: fc.uniqueArray(fc.constantFrom(...(dimension === "widget" ? widgets : KEYS[dimension])), {
        minLength: 1,
        maxLength: dimension === "hour" ? HOURS_CHOSEN_MAX : 2,
      }),
    }),
  );
}

/** As parameters of a request. */
export function toQuery(filters: readonly Filter[]): Record<string, string[]> {
  return Object.fromEntries(
    filters.map(({ dimension, isNegated, keys }) => [isNegated ? toNegatedName(dimension) : dimension, [...keys]]),
  );
}
