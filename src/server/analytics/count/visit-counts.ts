import { type Dimension, LEAD_DAYS, toLeadGroup } from "#contract/analytics/dimensions.ts";
import { FUNNEL_STEPS } from "#contract/analytics/steps.ts";
import { HOUR_MS, SECOND_MS } from "#contract/durations.ts";
import { findFirst } from "../../lib/find-first.ts";
import type { OnQuarter, TotalsReader } from "../packs/totals.ts";
import { type KeyCounts, QUARTER_MS } from "../packs/totals.ts";
import { PACK_VISITS_MAX, type VisitPack } from "../packs/visit-pack.ts";
import type { Filter } from "../report/filters.ts";
import type { LocalWindow } from "./local-window.ts";
import {
  matchBookings,
  matchVisits,
  toBookingFilters,
  toCountedHours,
  toVisitColumn,
  toVisitFilters,
  toWeekHour,
} from "./match-filters.ts";

type Wanted = {
  filters: readonly Filter[];
  lists: readonly Dimension[];
  /** The dimension whose keys get a funnel each. */
  splitBy?: Dimension | undefined;
};

type Part = { fromMs: number; untilMs: number; shiftMs: number };

/** The visits and bookings of a pack that count, by their index in it, and which bookings match the filters; null for all. */
type Chosen = {
  pack: VisitPack;
  viewed: Uint16Array;
  booked: Uint32Array;
  bookingMatches: Uint8Array | null;
};

const STEPS = FUNNEL_STEPS.length;
const HOUR_QUARTERS = HOUR_MS / QUARTER_MS;

/** A view belongs to the local hour in which its visit started, a booking to its own hour. */
export class VisitCounts {
  /** Local hours since 1970 begin with this one. */
  readonly firstHour: number;
  readonly hourViews: Float64Array;
  readonly hourBookings: Float64Array;
  /** Visits by furthest step, in the order of FUNNEL_STEPS. */
  readonly reached = new Array<number>(STEPS).fill(0);
  noAvailability = 0;
  failed = 0;
  leadMs = 0;
  /** Per group of LEAD_DAYS, and one more for those beyond. */
  readonly leadTimes = new Array<number>(LEAD_DAYS.length + 1).fill(0);
  readonly lists: ReadonlyMap<Dimension, KeyCounts>;
  /** As `reached`, for each value of the dimension to split by. */
  readonly reachedBy = new Map<number | string, number[]>();
  readonly #visitFilters: ReturnType<typeof toVisitFilters>;
  readonly #bookingFilters: ReturnType<typeof toBookingFilters>;
  readonly #countedHours: Uint8Array | null;
  readonly #splitBy: Dimension | undefined;
  readonly #parts: readonly Part[];
  // Memory that all packs use in turn: creating typed arrays takes longer than counting.
  readonly #matches = new Uint8Array(PACK_VISITS_MAX);
  readonly #viewed = new Uint16Array(PACK_VISITS_MAX);
  #booked = new Uint32Array(PACK_VISITS_MAX);
  #tally: Tally = { views: new Uint32Array(0), bookings: new Uint32Array(0) };

  constructor({ offsets }: LocalWindow, { filters, lists, splitBy }: Wanted) {
    this.#parts = offsets.map(({ fromMs, untilMs, seconds }) => ({ fromMs, untilMs, shiftMs: seconds * SECOND_MS }));
    const firstMs = Math.min(...this.#parts.map(({ fromMs, shiftMs }) => fromMs + shiftMs));
    const lastMs = Math.max(...this.#parts.map(({ untilMs, shiftMs }) => untilMs + shiftMs));
    this.firstHour = offsets.length === 0 ? 0 : Math.floor(firstMs / HOUR_MS);
    const hours = offsets.length === 0 ? 0 : Math.ceil(lastMs / HOUR_MS) - this.firstHour;
    this.hourViews = new Float64Array(hours);
    this.hourBookings = new Float64Array(hours);
    this.lists = new Map(lists.map((dimension) => [dimension, new Map()]));
    this.#visitFilters = toVisitFilters(filters);
    this.#bookingFilters = toBookingFilters(filters);
    this.#countedHours = toCountedHours(filters);
    this.#splitBy = splitBy;
  }

  add(pack: VisitPack): void {
    const matches = this.#matches.subarray(0, pack.starts.length);
    matchVisits(pack, this.#visitFilters, matches);
    const bookingMatches = matchBookings(pack, this.#bookingFilters, matches);
    const viewed = this.#countViews(pack, matches);
    const booked = this.#countBookings(pack, matches, bookingMatches);
    this.#countFailures(pack, matches);
    const chosen = { pack, viewed, booked, bookingMatches };
    for (const [dimension, totals] of this.lists) this.#addToList(totals, dimension, chosen);
    if (this.#splitBy) this.#split(this.#splitBy, chosen);
  }

  /** Adds the next totals, which lie within the window. There may be no filters, and nothing to split by. */
  addTotals(totals: TotalsReader): void {
    const onQuarter = { onViews: this.#addQuarters(this.hourViews), onBookings: this.#addQuarters(this.hourBookings) };
    const others = totals.take(onQuarter, this.lists);
    others.reached.forEach((count, i) => {
      this.reached[i] = (this.reached[i] as number) + count;
    });
    this.noAvailability += others.noAvailability;
    this.failed += others.failed;
    this.leadMs += others.leadMs;
    others.leadTimes.forEach((count, i) => {
      this.leadTimes[i] = (this.leadTimes[i] as number) + count;
    });
  }

  /** For quarters of an hour that come in order. All of a quarter is in one local hour. */
  #addQuarters(hours: Float64Array): OnQuarter {
    const parts = this.#parts.map(({ untilMs, shiftMs }) => ({
      until: untilMs / QUARTER_MS,
      shift: shiftMs / QUARTER_MS - this.firstHour * HOUR_QUARTERS,
    }));
    let next = 0;
    let [until, shift] = [Number.NEGATIVE_INFINITY, 0];
    return (quarter, count) => {
      while (quarter >= until) ({ until, shift } = parts[next++] as (typeof parts)[number]);
      const hour = Math.floor((quarter + shift) / HOUR_QUARTERS);
      hours[hour] = (hours[hour] as number) + count;
    };
  }

  /** Returns the visits that started in the window. */
  #countViews({ dayMs, starts, stages }: VisitPack, matches: Uint8Array): Uint16Array {
    const { hourViews, reached, firstHour } = this;
    const viewed = this.#viewed;
    let count = 0;
    for (const { fromMs, untilMs, shiftMs } of this.#parts) {
      const end = findFirst(starts, (startMs) => startMs >= untilMs - dayMs);
      const sinceFirstMs = dayMs + shiftMs - firstHour * HOUR_MS;
      for (let i = findFirst(starts, (startMs) => startMs >= fromMs - dayMs); i < end; i++) {
        if (matches[i] === 0) continue;
        const hour = Math.floor(((starts[i] as number) + sinceFirstMs) / HOUR_MS);
        if (!this.#isCounted(firstHour + hour)) continue;
        viewed[count++] = i;
        hourViews[hour] = (hourViews[hour] as number) + 1;
        const stage = stages[i] as number;
        const step = (stage >> 1) - 1;
        reached[step] = (reached[step] as number) + 1;
        this.noAvailability += stage & 1;
      }
    }
    return viewed.subarray(0, count);
  }

  /** Returns the bookings of the window. */
  #countBookings({ bookings }: VisitPack, matches: Uint8Array, bookingMatches: Uint8Array | null): Uint32Array {
    const { visits, atMs, leadMs } = bookings;
    // A visit can have several.
    if (this.#booked.length < visits.length) this.#booked = new Uint32Array(2 * visits.length);
    const booked = this.#booked;
    let count = 0;
    for (let i = 0; i < visits.length; i++) {
      if (matches[visits[i] as number] === 0 || bookingMatches?.[i] === 0) continue;
      const localHour = this.#findHour(atMs[i] as number);
      if (localHour === undefined) continue;
      booked[count++] = i;
      const hour = localHour - this.firstHour;
      this.hourBookings[hour] = (this.hourBookings[hour] as number) + 1;
      this.#addLead(leadMs[i] as number);
    }
    return booked.subarray(0, count);
  }

  #addLead(leadMs: number): void {
    const group = toLeadGroup(leadMs);
    if (group === -1) return;
    this.leadMs += leadMs;
    this.leadTimes[group] = (this.leadTimes[group] as number) + 1;
  }

  #countFailures({ failures }: VisitPack, matches: Uint8Array): void {
    failures.visits.forEach((visit, i) => {
      if (matches[visit] === 1 && this.#findHour(failures.atMs[i] as number) !== undefined) this.failed += 1;
    });
  }

  /** The local hour since 1970; undefined if it doesn't count. */
  #findHour(atMs: number): number | undefined {
    for (const { fromMs, untilMs, shiftMs } of this.#parts)
      if (fromMs <= atMs && atMs < untilMs) {
        const hour = Math.floor((atMs + shiftMs) / HOUR_MS);
        return this.#isCounted(hour) ? hour : undefined;
      }
    return undefined;
  }

  #isCounted(localHour: number): boolean {
    return this.#countedHours === null || this.#countedHours[toWeekHour(localHour)] === 1;
  }

  #addToList(totals: KeyCounts, dimension: Dimension, { pack, viewed, booked, bookingMatches }: Chosen): void {
    if (dimension === "service") {
      const { places, values } = pack.bookings.services;
      const tally = this.#startTally(values.length);
      for (const { place } of listServiceViews(pack, { viewed, bookingMatches })) addOne(tally.views, place);
      for (const booking of booked) addOne(tally.bookings, places[booking] as number);
      addTally(totals, values, tally);
      return;
    }
    const { places, values } = toVisitColumn(pack, dimension);
    const tally = this.#startTally(values.length);
    for (let i = 0; i < viewed.length; i++) addOne(tally.views, places[viewed[i] as number] as number);
    for (let i = 0; i < booked.length; i++)
      addOne(tally.bookings, places[pack.bookings.visits[booked[i] as number] as number] as number);
    addTally(totals, values, tally);
  }

  /** One zero per value. */
  #startTally(values: number): Tally {
    if (this.#tally.views.length < values)
      this.#tally = { views: new Uint32Array(2 * values), bookings: new Uint32Array(2 * values) };
    this.#tally.views.fill(0, 0, values);
    this.#tally.bookings.fill(0, 0, values);
    return this.#tally;
  }

  #split(dimension: Dimension, { pack, viewed, bookingMatches }: Chosen): void {
    const addVisit = (value: number | string, visit: number) => {
      const reached = this.reachedBy.get(value) ?? new Array<number>(STEPS).fill(0);
      this.reachedBy.set(value, reached);
      const step = ((pack.stages[visit] as number) >> 1) - 1;
      reached[step] = (reached[step] as number) + 1;
    };
    if (dimension === "service")
      for (const { visit, place } of listServiceViews(pack, { viewed, bookingMatches }))
        addVisit(pack.bookings.services.values[place] as string, visit);
    else {
      const { places, values } = toVisitColumn(pack, dimension);
      for (const visit of viewed) addVisit(values[places[visit] as number] as number | string, visit);
    }
  }
}

type Tally = { views: Uint32Array; bookings: Uint32Array };

function addOne(counts: Uint32Array, place: number): void {
  counts[place] = (counts[place] as number) + 1;
}

function addTally(totals: KeyCounts, values: ArrayLike<number | string>, { views, bookings }: Tally): void {
  for (let i = 0; i < values.length; i++) {
    if (views[i] === 0 && bookings[i] === 0) continue;
    const value = values[i] as number | string;
    const known = totals.get(value);
    if (known) {
      known.views += views[i] as number;
      known.bookings += bookings[i] as number;
    } else totals.set(value, { views: views[i] as number, bookings: bookings[i] as number });
  }
}

/** A service's views are the visits that booked it, so they are what a filter by that service counts. */
function listServiceViews(
  { starts, bookings: { visits, services } }: VisitPack,
  { viewed, bookingMatches }: Pick<Chosen, "viewed" | "bookingMatches">,
): { visit: number; place: number }[] {
  const isViewed = new Uint8Array(starts.length);
  for (const visit of viewed) isViewed[visit] = 1;
  const seen = new Set<number>();
  const views: { visit: number; place: number }[] = [];
  visits.forEach((visit, i) => {
    if (visits[i - 1] !== visit) seen.clear();
    const place = services.places[i] as number;
    if (isViewed[visit] === 0 || bookingMatches?.[i] === 0 || seen.has(place)) return;
    seen.add(place);
    views.push({ visit, place });
  });
  return views;
}
