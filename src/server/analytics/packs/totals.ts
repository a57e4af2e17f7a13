import { DIMENSIONS, type Dimension, LEAD_DAYS, toLeadGroup } from "#contract/analytics/dimensions.ts";
import { FUNNEL_STEPS } from "#contract/analytics/steps.ts";
import { MINUTE_MS } from "#contract/durations.ts";
import { assert } from "../../lib/assert.ts";
import { isKeyed, KEY_KINDS } from "../record/key-id.ts";
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

function addToSeries(series: Series, quarter: number, count: number): void {
  series.set(quarter, (series.get(quarter) ?? 0) + count);
}

// Totals as bytes, in two parts: what most reports need, and the lists, of which few are needed at a time. Small numbers take
// one byte, larger ones as many as they need.

/** Another format needs a migration that deletes all packs and totals. */
const FORMAT = 1;
/** No visit is older. */
const OLDEST_QUARTER = Date.parse("0001-01-01") / QUARTER_MS;

export type TotalsBytes = { counts: Buffer; keys: Buffer };

export function encodeTotals(totals: Totals): TotalsBytes {
  const counts = new ByteWriter();
  counts.addNumber(FORMAT);
  for (const series of [totals.views, totals.bookings]) {
    counts.addNumber(series.size);
    let last = OLDEST_QUARTER;
    for (const [quarter, count] of [...series].sort(([a], [b]) => a - b)) {
      counts.addNumber(quarter - last);
      counts.addNumber(count);
      last = quarter;
    }
  }
  for (const count of [...totals.reached, totals.noAvailability, totals.failed, ...totals.leadTimes])
    counts.addNumber(count);
  counts.addNumber(totals.leadMs);
  const keys = new ByteWriter();
  for (const dimension of DIMENSIONS) keys.addPart(encodeList(dimension, totals.keys.get(dimension) ?? new Map()));
  return { counts: counts.toBytes(), keys: keys.toBytes() };
}

function encodeList(dimension: Dimension, list: KeyCounts): Buffer {
  const writer = new ByteWriter();
  writer.addNumber(list.size);
  for (const [value, { views, bookings }] of list) {
    if (isKeyed(dimension)) writer.addKey(value as number);
    else writer.addPart(Buffer.from(value as string));
    writer.addNumber(views);
    writer.addNumber(bookings);
  }
  return writer.toBytes();
}

export type OnQuarter = (quarter: number, count: number) => void;

/** Totals that stand one after the other. */
export class TotalsReader {
  readonly #counts: ByteReader;
  readonly #keys: ByteReader;

  constructor({ counts, keys }: TotalsBytes) {
    this.#counts = new ByteReader(counts);
    this.#keys = new ByteReader(keys);
  }

  get hasMore(): boolean {
    return this.#counts.hasMore;
  }

  /**
   * The next totals. Calls back for each quarter of an hour with views or bookings, oldest first; adds the lists of these
   * dimensions to those that are given; and returns the other counts.
   */
  take(
    { onViews, onBookings }: { onViews: OnQuarter; onBookings: OnQuarter },
    lists: ReadonlyMap<Dimension, KeyCounts>,
  ): Omit<Totals, "views" | "bookings" | "keys"> {
    const reader = this.#counts;
    assert(reader.takeNumber() === FORMAT, "there is one format of totals");
    for (const onQuarter of [onViews, onBookings]) {
      let quarter = OLDEST_QUARTER;
      for (let left = reader.takeNumber(); left > 0; left--) {
        quarter += reader.takeNumber();
        onQuarter(quarter, reader.takeNumber());
      }
    }
    const { reached, leadTimes } = createTotals();
    for (let i = 0; i < reached.length; i++) reached[i] = reader.takeNumber();
    const [noAvailability, failed] = [reader.takeNumber(), reader.takeNumber()];
    for (let i = 0; i < leadTimes.length; i++) leadTimes[i] = reader.takeNumber();
    if (lists.size > 0) this.#addLists(lists);
    return { reached, noAvailability, failed, leadTimes, leadMs: reader.takeNumber() };
  }

  #addLists(lists: ReadonlyMap<Dimension, KeyCounts>): void {
    for (const dimension of DIMENSIONS) {
      const list = lists.get(dimension);
      const part = this.#keys.takePart();
      if (list) addDecodedList(part, dimension, list);
    }
  }
}

function addDecodedList(bytes: Buffer, dimension: Dimension, list: KeyCounts): void {
  const reader = new ByteReader(bytes);
  const hasNumbers = isKeyed(dimension);
  for (let left = reader.takeNumber(); left > 0; left--) {
    const value = hasNumbers ? reader.takeKey() : reader.takePart().toString();
    const views = reader.takeNumber();
    const bookings = reader.takeNumber();
    const known = list.get(value);
    if (known) {
      known.views += views;
      known.bookings += bookings;
    } else list.set(value, { views, bookings });
  }
}

export function addEncoded(sum: Totals, bytes: TotalsBytes): void {
  const onQuarter = {
    onViews: (quarter: number, count: number) => addToSeries(sum.views, quarter, count),
    onBookings: (quarter: number, count: number) => addToSeries(sum.bookings, quarter, count),
  };
  const added = new TotalsReader(bytes).take(onQuarter, sum.keys);
  sum.noAvailability += added.noAvailability;
  sum.failed += added.failed;
  sum.leadMs += added.leadMs;
  for (const name of ["reached", "leadTimes"] as const)
    added[name].forEach((count, i) => {
      sum[name][i] = (sum[name][i] as number) + count;
    });
}

const KEY_BYTES = 8;

class ByteWriter {
  #bytes = Buffer.alloc(1_024);
  #length = 0;

  /** A whole number from 0. */
  addNumber(value: number): void {
    this.#reserve(KEY_BYTES);
    let rest = value;
    for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) this.#bytes[this.#length++] = (rest % 0x80) | 0x80;
    this.#bytes[this.#length++] = rest;
  }

  addKey(value: number): void {
    this.#reserve(KEY_BYTES);
    this.#length = this.#bytes.writeDoubleLE(value, this.#length);
  }

  addPart(part: Buffer): void {
    this.addNumber(part.length);
    this.#reserve(part.length);
    this.#length += part.copy(this.#bytes, this.#length);
  }

  toBytes(): Buffer {
    return this.#bytes.subarray(0, this.#length);
  }

  #reserve(length: number): void {
    if (this.#length + length <= this.#bytes.length) return;
    this.#bytes = Buffer.concat([this.#bytes], 2 * (this.#bytes.length + length));
  }
}

class ByteReader {
  readonly #bytes: Buffer;
  readonly #view: DataView;
  #offset = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  }

  get hasMore(): boolean {
    return this.#offset < this.#bytes.length;
  }

  takeNumber(): number {
    const first = this.#bytes[this.#offset++] as number;
    if (first < 0x80) return first;
    let value = first - 0x80;
    for (let scale = 0x80; ; scale *= 0x80) {
      const byte = this.#bytes[this.#offset++] as number;
      if (byte < 0x80) return value + byte * scale;
      value += (byte - 0x80) * scale;
    }
  }

  takeKey(): number {
    this.#offset += KEY_BYTES;
    return this.#view.getFloat64(this.#offset - KEY_BYTES, true);
  }

  takePart(): Buffer {
    const length = this.takeNumber();
    this.#offset += length;
    return this.#bytes.subarray(this.#offset - length, this.#offset);
  }
}
