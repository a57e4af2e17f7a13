import { DIMENSIONS, type Dimension, LEAD_DAYS, toLeadGroup } from "#contract/dimensions.ts";
import { MINUTE_MS } from "#contract/durations.ts";
import { FUNNEL_STEPS } from "#contract/steps.ts";
import { KEY_KINDS } from "../record/key-id.ts";
import type { VisitPack } from "./visit-pack.ts";

// What reports need of the visits that started on some days, without the visits: for all widgets, or for one. Time zones differ
// by quarters of an hour, so counts by quarter give the local days and hours of any of them.

export const QUARTER_MS = 15 * MINUTE_MS;

type KeyTotals = { views: number; bookings: number };

/** By the value that packs have: a number for keys, a text for widgets and services. */
export type KeyCounts = Map<number | string, KeyTotals>;

/** Counts by the number of quarters of an hour since 1970. */
type Series = Map<number, number>;

export type Totals = {
  /** Views by the start of the visit, bookings by their own instant. */
  readonly views: Series;
  readonly bookings: Series;
  /** Visits by furthest step, in the order of FUNNEL_STEPS. */
  readonly reached: number[];
  noAvailability: number;
  failed: number;
  leadMs: number;
  /** Per group of LEAD_DAYS, and one more for those beyond. */
  readonly leadTimes: number[];
  readonly keys: ReadonlyMap<Dimension, KeyCounts>;
};

export function createTotals(): Totals {
  return {
    views: new Map(),
    bookings: new Map(),
    reached: FUNNEL_STEPS.map(() => 0),
    noAvailability: 0,
    failed: 0,
    leadMs: 0,
    leadTimes: [...LEAD_DAYS, Number.POSITIVE_INFINITY].map(() => 0),
    keys: new Map(DIMENSIONS.map((dimension) => [dimension, new Map()])),
  };
}

/** Totals of all widgets together have this id instead of a widget's. */
export const ALL_WIDGETS = "";

export type WidgetTotals = Map<string, Totals>;

export function addPack(all: WidgetTotals, pack: VisitPack): void {
  const ofWidgets = Array.from(pack.widgets.values, (id) => [findTotals(all, ALL_WIDGETS), findTotals(all, id)]);
  const totalsOf = (visit: number) => ofWidgets[pack.widgets.places[visit] as number] as Totals[];
  for (let visit = 0; visit < pack.starts.length; visit++)
    for (const totals of totalsOf(visit)) addVisit(totals, pack, visit);
  addBookings(pack, totalsOf);
  for (const visit of pack.failures.visits) for (const totals of totalsOf(visit)) totals.failed += 1;
}

function findTotals(all: WidgetTotals, widgetId: string): Totals {
  const known = all.get(widgetId) ?? createTotals();
  all.set(widgetId, known);
  return known;
}

function addVisit(totals: Totals, pack: VisitPack, visit: number): void {
  addToSeries(totals.views, toQuarter(pack.dayMs + (pack.starts[visit] as number)), 1);
  const stage = pack.stages[visit] as number;
  const step = (stage >> 1) - 1;
  totals.reached[step] = (totals.reached[step] as number) + 1;
  totals.noAvailability += stage & 1;
  for (const [dimension, value] of listKeys(pack, visit)) findKey(totals, dimension, value).views += 1;
}

function addBookings(pack: VisitPack, totalsOf: (visit: number) => readonly Totals[]): void {
  const { visits, atMs, leadMs, services } = pack.bookings;
  // A service's views are the visits that booked it, however often they did.
  const seen = new Set<number>();
  visits.forEach((visit, i) => {
    if (visits[i - 1] !== visit) seen.clear();
    const place = services.places[i] as number;
    const isFirst = !seen.has(place);
    seen.add(place);
    const group = toLeadGroup(leadMs[i] as number);
    for (const totals of totalsOf(visit)) {
      addToSeries(totals.bookings, toQuarter(atMs[i] as number), 1);
      for (const [dimension, value] of listKeys(pack, visit)) findKey(totals, dimension, value).bookings += 1;
      const service = findKey(totals, "service", services.values[place] as string);
      service.bookings += 1;
      if (isFirst) service.views += 1;
      if (group === -1) continue;
      totals.leadMs += leadMs[i] as number;
      totals.leadTimes[group] = (totals.leadTimes[group] as number) + 1;
    }
  });
}

function* listKeys({ keys, widgets }: VisitPack, visit: number): Generator<[Dimension, number | string]> {
  for (const kind of KEY_KINDS) yield [kind, keys[kind].values[keys[kind].places[visit] as number] as number];
  yield ["widget", widgets.values[widgets.places[visit] as number] as string];
}

function findKey({ keys }: Totals, dimension: Dimension, value: number | string): KeyTotals {
  const counts = keys.get(dimension) as KeyCounts;
  const known = counts.get(value) ?? { views: 0, bookings: 0 };
  if (known.views + known.bookings === 0) counts.set(value, known);
  return known;
}

function toQuarter(ms: number): number {
  return Math.floor(ms / QUARTER_MS);
}

export function addToSeries(series: Series, quarter: number, count: number): void {
  series.set(quarter, (series.get(quarter) ?? 0) + count);
}
