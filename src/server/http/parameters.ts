import {
  PAGE_SIZE_DEFAULT,
  PAGE_SIZE_MAX,
  SEARCH_LENGTH_MAX,
  WINDOW_DAYS_DEFAULT,
  WINDOW_DAYS_MAX,
} from "#contract/limits.ts";
import { parseIsoInstant } from "../lib/time/iso-instant.ts";
import { ApiError } from "./errors/api-error.ts";

// Query parameters of the read API. JSON Schema with type coercion would accept `1e2` and `+5` as integers and cannot
// clamp. So the schemas in contract/ only describe these parameters, and the functions here validate them.

/** The parsed query string, with an array for a repeated name. */
export type Query = Readonly<Record<string, string | string[] | undefined>>;

/**
 * The parameter's text, or null if it was not sent. A known name sent twice is refused, because it's unclear which
 * value is meant.
 */
export function readParameter(query: Query, name: string): string | null {
  const value = query[name];
  if (Array.isArray(value)) throw badParameter(name, "was sent more than once");
  return value ?? null;
}

/** Refuses names that are not known, so that a misspelled filter is not taken for no filter. */
export function requireKnown(query: Query, names: readonly string[]): void {
  const unknown = Object.keys(query).find((name) => !names.includes(name));
  if (unknown === undefined) return;
  const advice = names.length === 0 ? "There are none here." : `Use ${names.join(", ")}.`;
  throw new ApiError("bad_request", `Unknown parameter ${unknown.slice(0, 50)}. ${advice}`);
}

export function readInstant(query: Query, name: string, rounding: "down" | "up"): Date | null {
  const text = readParameter(query, name);
  if (text === null) return null;
  const instant = parseIsoInstant(text, rounding);
  if (!instant)
    throw badParameter(name, "must be an ISO 8601 date, for example 2026-11-01 or 2026-11-01T09:30:00.000Z");
  return instant;
}

/** Null if the parameter was not sent. */
export function readChoice<Choice extends string>(
  query: Query,
  name: string,
  choices: readonly Choice[],
): Choice | null {
  const text = readParameter(query, name);
  if (text === null) return null;
  const choice = choices.find((each) => each === text);
  if (choice === undefined) throw badParameter(name, `must be one of ${choices.join(", ")}`);
  return choice;
}

/** The text of a search without control characters and surrounding spaces; null if nothing is left. */
export function readSearch(query: Query): string | null {
  const typed = readParameter(query, "search") ?? "";
  if (typed.length > SEARCH_LENGTH_MAX)
    throw badParameter("search", `must not be longer than ${SEARCH_LENGTH_MAX} characters`);
  return cleanSearch(typed.toWellFormed());
}

export function cleanSearch(text: string): string | null {
  return text.replaceAll(/\p{Cc}+/gu, " ").trim() || null;
}

/** Larger numbers of any length become the largest size. */
export function readPageSize(query: Query, name: string): number {
  const text = readParameter(query, name);
  if (text === null) return PAGE_SIZE_DEFAULT;
  const digits = /^0*([1-9][0-9]*)$/.exec(text)?.[1];
  if (digits === undefined) throw badParameter(name, `must be a whole number from 1 to ${PAGE_SIZE_MAX}`);
  // A number too long for Number becomes Infinity.
  return Math.min(Number(digits), PAGE_SIZE_MAX);
}

/** Unlike a page size, a larger number is refused. */
export function readWindowDays(query: Query, name: string): number {
  const text = readParameter(query, name);
  if (text === null) return WINDOW_DAYS_DEFAULT;
  const days = /^[0-9]+$/.test(text) ? Number(text) : 0;
  if (days < 1 || days > WINDOW_DAYS_MAX)
    throw badParameter(name, `must be a whole number from 1 to ${WINDOW_DAYS_MAX}`);
  return days;
}

/** Checks the parameters without downloading: a browser download cannot show an error. */
export function isDryRun(query: Query): boolean {
  return readParameter(query, "dryRun") === "true";
}

export function badParameter(name: string, fault: string): ApiError {
  return new ApiError("bad_request", `The parameter ${name} ${fault}.`);
}
