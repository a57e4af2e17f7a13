import {
  CHANNELS,
  DEVICES,
  FILTER_DIMENSIONS,
  FILTER_LENGTH_MAX,
  FILTER_VALUES_MAX,
  type FilterDimension,
  isTimeDimension,
  NOT_SET,
  TIME_KEYS,
  toNegatedName,
  toUsualCase,
} from "#contract/analytics/dimensions.ts";
import type { OrganizationId, WidgetId } from "#contract/ids.ts";
import type { Db } from "../../db/connections/pool.ts";
import { badParameter, type Query } from "../../http/parameters.ts";
import { requireWidget } from "../../widgets/widgets.ts";
import { isCountry } from "../classify/country.ts";

// Filters are query parameters named like the dimensions: `country=DE&country=AT` is either country, `notDevice=mobile` every
// other device. A visit must match every parameter.
//
// Service and lead time choose bookings, and the visits that made them. Weekday and hour choose neither: a view counts if the
// visit began at such a time, a booking if it was made at such a time.

export type Filter = {
  readonly dimension: FilterDimension;
  readonly isNegated: boolean;
  readonly keys: readonly string[];
};

/** Throws 400 for too many, too long or unknown values. */
export function readFilters(query: Query): Filter[] {
  return FILTER_DIMENSIONS.flatMap((dimension) => [
    toFilter(query, { dimension, isNegated: false }),
    toFilter(query, { dimension, isNegated: true }),
  ]).filter((filter) => filter.keys.length > 0);
}

/** Throws 404 if one of the filters' widgets is not the organization's. */
export async function requireFilterWidgets(db: Db, owner: OrganizationId, filters: readonly Filter[]): Promise<void> {
  for (const { dimension, keys } of filters)
    if (dimension === "widget") for (const id of keys) await requireWidget(db, owner, id);
}

function toFilter(query: Query, filter: Omit<Filter, "keys">): Filter {
  const name = filter.isNegated ? toNegatedName(filter.dimension) : filter.dimension;
  const value = query[name] ?? [];
  const sent = typeof value === "string" ? [value] : value;
  const keys = [...new Set(sent.map((key) => toUsualCase(filter.dimension, key)))];
  if (sent.length > FILTER_VALUES_MAX) throw badParameter(name, `may be sent at most ${FILTER_VALUES_MAX} times`);
  if (isTimeDimension(filter.dimension)) {
    const known: readonly string[] = TIME_KEYS[filter.dimension];
    if (!keys.every((key) => known.includes(key))) throw badParameter(name, `must be one of ${known.join(", ")}`);
  }
  // PostgreSQL can't store lone surrogates or null bytes, so no key contains them.
  const isKey = (key: string) =>
    key !== "" && key.length <= FILTER_LENGTH_MAX && key.isWellFormed() && !key.includes("\0");
  // A widget's id is checked by requireWidget, which answers 404.
  if (filter.dimension !== "widget" && !keys.every(isKey))
    throw badParameter(name, `must have 1 to ${FILTER_LENGTH_MAX} characters`);
  return { ...filter, keys };
}

/** Throws 400 for a country, device or channel that can't exist, so that programs learn of a misspelling. */
export function requireKnownKeys(filters: readonly Filter[]): void {
  for (const { dimension, isNegated, keys } of filters) {
    const name = isNegated ? toNegatedName(dimension) : dimension;
    const known = keys.filter((key) => key !== NOT_SET);
    if (dimension === "country" && !known.every(isCountry))
      throw badParameter(name, `must be the two-letter code of a country, or ${NOT_SET}`);
    const words = dimension === "device" ? DEVICES : dimension === "channel" ? CHANNELS : null;
    if (words && !known.every((key) => (words as readonly string[]).includes(key)))
      throw badParameter(name, `must be one of ${words.join(", ")}`);
  }
}

/** The filter that counts one widget, or none for all. */
export function toWidgetFilters(widgetId: WidgetId | null): Filter[] {
  return widgetId === null ? [] : [{ dimension: "widget", isNegated: false, keys: [widgetId] }];
}

/** The widget, if the filters choose exactly one and nothing else. */
export function findOneWidget(filters: readonly Filter[]): WidgetId | null {
  const [first, ...others] = filters;
  const isOneWidget =
    first?.dimension === "widget" && !first.isNegated && first.keys.length === 1 && others.length === 0;
  // requireFilterWidgets checks that it is one of the organization's; an unknown one counts nothing.
  return isOneWidget ? (first.keys[0] as WidgetId) : null;
}
