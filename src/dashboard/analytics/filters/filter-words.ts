import {
  FILTER_VALUES_MAX,
  type FilterDimension,
  isTimeDimension,
  TIME_KEYS,
  type TimeDimension,
} from "#contract/analytics/dimensions.ts";
import { DIMENSION_WORDS, toKeyName } from "../breakdowns/dimension-words.ts";
import { formatHourOfDay, formatWeekday } from "../charts/buckets.ts";
import type { ShownFilter } from "./filter-state.ts";

type Names = ReadonlyMap<string, string>;

const TIME_NAMES: Readonly<Record<TimeDimension, string>> = {
  weekday: "Weekday",
  hour: "Hour",
  leadTime: "Lead time",
};

const LEAD_TIME_NAMES: Readonly<Record<string, string>> = {
  "0": "Less than a day",
  "1": "1 day",
  "2-3": "2–3 days",
  "4-7": "4–7 days",
  "8-14": "8–14 days",
  "15-30": "15–30 days",
  "31-or-more": "31 days or more",
} satisfies Record<(typeof TIME_KEYS.leadTime)[number], string>;

export function toFilterName(dimension: FilterDimension): string {
  return isTimeDimension(dimension) ? TIME_NAMES[dimension] : DIMENSION_WORDS[dimension].name;
}

export function toFilterKeyName(dimension: FilterDimension, key: string, widgetNames: Names): string {
  switch (dimension) {
    case "weekday":
      return formatWeekday((TIME_KEYS.weekday as readonly string[]).indexOf(key));
    case "hour":
      return formatHourOfDay(Number(key));
    case "leadTime":
      return LEAD_TIME_NAMES[key] ?? key;
    default:
      return toKeyName(dimension, key, widgetNames);
  }
}

export function toToggleTitle(name: string, isChosen: boolean): string {
  return isChosen ? `Remove filter ${name}` : `Show only ${name}`;
}

export const FULL_FILTER = `A filter can have up to ${FILTER_VALUES_MAX} values.`;

/** More names would make a chip too long. */
const NAMED_MAX = 3;
const listFormat = new Intl.ListFormat("en-GB", { type: "disjunction" });

/** "Germany, Austria or 2 others". */
export function toKeysText({ dimension, keys }: ShownFilter, widgetNames: Names): string {
  const names = keys.map((key) => toFilterKeyName(dimension, key, widgetNames));
  if (names.length <= NAMED_MAX) return listFormat.format(names);
  const named = names.slice(0, NAMED_MAX - 1);
  return listFormat.format([...named, `${names.length - named.length} others`]);
}
