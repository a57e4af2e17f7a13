import type { AnalyticsEntry } from "#contract/analytics.ts";
import type { Deps } from "../../../deps.ts";
import type { Query } from "../../../http/parameters.ts";
import { type Reader, readQuestion } from "../app-report.ts";
import { type DayWindow, readComparison } from "../app-window.ts";
import { requireKnownKeys } from "../filters.ts";
import { readBreakdown, readDimension } from "./breakdown.ts";

const ROWS = 50;
/** Rows of the other period in which those of this one are looked up. */
const ROWS_BEFORE = 10_000;
const LARGEST = { search: null, sort: "bookings", isAscending: false, offset: 0, after: null } as const;

export async function readBreakdownCompared(deps: Pick<Deps, "db" | "clock">, reader: Reader, query: Query) {
  const dimension = readDimension(query);
  const question = await readQuestion(deps, reader, query);
  requireKnownKeys(question.filters);
  const { window, timeZone } = question;
  const before = readComparison(query, window);
  const read = async (asked: DayWindow, limit: number) =>
    await readBreakdown(deps.db, { ...question, window: asked }, { dimension, part: { ...LARGEST, limit } });
  const { rows, count } = await read(window, ROWS);
  const earlier = before && new Map((await read(before, ROWS_BEFORE)).rows.map((row) => [row.key, toCounts(row)]));
  return {
    dimension,
    from: window.from,
    to: window.to,
    timeZone,
    previous: before && { from: before.from, to: before.to },
    count,
    rows: rows.map((row) => ({
      key: row.key,
      name: row.label,
      ...toCounts(row),
      previous: earlier && (earlier.get(row.key) ?? NONE),
    })),
  };
}

const NONE = { views: 0, bookings: 0, conversionRate: 0 };

function toCounts({ views, bookings, conversionRate }: AnalyticsEntry) {
  return { views, bookings, conversionRate };
}
