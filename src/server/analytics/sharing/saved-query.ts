import { type ParsedUrlQuery, parse, stringify } from "node:querystring";
import { toNegatedName } from "#contract/analytics/dimensions.ts";
import { type Query, readParameter } from "../../http/parameters.ts";
import { type Filter, readFilters } from "../report/filters.ts";

// What is saved of a report is the query string that shows it.

/** Query parameters of a saved query. */
export function parseQuery(text: string): Query {
  return parse(text) satisfies ParsedUrlQuery;
}

/** Only the filters, in the form that the dashboard uses. Throws 400 like readFilters. */
export function toFilterQuery(text: string): { query: string; filters: Filter[] } {
  const filters = readFilters(parseQuery(text));
  const named = filters.map(({ dimension, isNegated, keys }) => [
    isNegated ? toNegatedName(dimension) : dimension,
    keys,
  ]);
  return { query: stringify(Object.fromEntries(named)), filters };
}

const REPORT_PARAMETERS = ["period", "days", "from", "to", "compare", "compareFrom", "compareTo", "match"] as const;

/** Only period, comparison and filters. The values of the first two are still to be checked. */
export function toReportQuery(text: string): string {
  const query = parseQuery(text);
  const chosen = REPORT_PARAMETERS.flatMap((name) => {
    const value = readParameter(query, name);
    return value === null ? [] : [[name, value]];
  });
  return [stringify(Object.fromEntries(chosen)), toFilterQuery(text).query].filter(Boolean).join("&");
}
