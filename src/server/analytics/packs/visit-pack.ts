import { NOT_SET } from "#contract/analytics/dimensions.ts";
import { assert } from "../../lib/assert.ts";
import { KEY_KINDS, type KeyKind } from "../record/key-id.ts";

// Visits as columns instead of rows: a million of them are counted in a tenth of a second. Each text and key is there once, and
// visits refer to it by its place. A pack has no visit ids, so nothing can be added to it later.

/** Few enough that a pack is made, or counted, in about a millisecond. Their numbers fit into 16 bits. */
export const PACK_VISITS_MAX = 4_096;

export type Column<Value> = {
  /** For each visit, the place of its value. */
  readonly places: Uint8Array | Uint16Array | Uint32Array;
  readonly values: ArrayLike<Value>;
};

export type VisitPack = {
  /** All visits started on this UTC day; this is its first instant. */
  readonly dayMs: number;
  /** Milliseconds since then, ascending. */
  readonly starts: Uint32Array;
  /** Twice the furthest step, from 1, and one more for visits that found no available times. */
  readonly stages: Uint8Array;
  readonly keys: Readonly<Record<KeyKind, Column<number>>>;
  readonly widgets: Column<string>;
  /** In the order of their visits. `leadMs` is NaN if it is unknown. */
  readonly bookings: {
    readonly visits: Uint16Array;
    readonly atMs: Float64Array;
    readonly leadMs: Float64Array;
    readonly services: Column<string>;
  };
  readonly failures: { readonly visits: Uint16Array; readonly atMs: Float64Array };
};

export type Conversions = Readonly<Record<string, readonly [atMs: number, leadMs: number | null, service?: string]>>;

/** Visits in the order of their start, at most PACK_VISITS_MAX. */
export type VisitColumns = {
  readonly startedMs: Float64Array;
  readonly stages: Float64Array;
  readonly keys: Readonly<Record<KeyKind, Float64Array>>;
  readonly widgets: readonly string[];
  /** In the order of their visits. */
  readonly bookings: readonly VisitConversion[];
  readonly failures: readonly VisitConversion[];
};

type VisitConversion = { readonly visit: number; readonly times: Conversions[string] };

export function toPack(
  dayMs: number,
  { startedMs, stages, keys, widgets, bookings, failures }: VisitColumns,
): VisitPack {
  return {
    dayMs,
    starts: Uint32Array.from(startedMs, (ms) => ms - dayMs),
    stages: Uint8Array.from(stages),
    keys: toRecord((kind) => toColumn(keys[kind])),
    widgets: toColumn(widgets),
    bookings: {
      visits: Uint16Array.from(bookings, ({ visit }) => visit),
      atMs: Float64Array.from(bookings, ({ times: [atMs] }) => atMs),
      leadMs: Float64Array.from(bookings, ({ times: [, leadMs] }) => leadMs ?? Number.NaN),
      services: toColumn(bookings.map(({ times: [, , service] }) => service ?? NOT_SET)),
    },
    failures: {
      visits: Uint16Array.from(failures, ({ visit }) => visit),
      atMs: Float64Array.from(failures, ({ times: [atMs] }) => atMs),
    },
  };
}

export const NO_VISITS: VisitColumns = {
  startedMs: new Float64Array(),
  stages: new Float64Array(),
  keys: toRecord(() => new Float64Array()),
  widgets: [],
  bookings: [],
  failures: [],
};

export function toRecord<Value>(make: (kind: KeyKind) => Value): Record<KeyKind, Value> {
  return Object.fromEntries(KEY_KINDS.map((kind) => [kind, make(kind)])) as Record<KeyKind, Value>;
}

function toColumn<Value>(all: ArrayLike<Value>): Column<Value> {
  const known = new Map<Value, number>();
  const values: Value[] = [];
  const places = new Uint32Array(all.length);
  for (let i = 0; i < all.length; i++) {
    const value = all[i] as Value;
    let place = known.get(value);
    if (place === undefined) {
      place = values.push(value) - 1;
      known.set(value, place);
    }
    places[i] = place;
  }
  return { places: new (toPlacesType(values.length))(places), values };
}

/** The narrowest type that can hold the places of this many values. */
function toPlacesType(values: number): typeof Uint8Array | typeof Uint16Array | typeof Uint32Array {
  if (values <= 2 ** 8) return Uint8Array;
  return values <= 2 ** 16 ? Uint16Array : Uint32Array;
}

// A pack as bytes: about 13 for each visit. First a header of whole numbers, then the columns one after the other, those with
// the widest numbers first, so that each starts where its numbers can be read in place. The texts are last, as JSON. Numbers are
// little-endian, as on every processor that Node runs on.

/** Another format needs a migration that deletes all packs. */
const FORMAT = 1;
/** Format, visits, bookings, failures, bytes of texts, widgets, services, values of each kind of key, and one to fill up. */
const HEADER_NUMBERS = 8 + KEY_KINDS.length;

export function encodePack(pack: VisitPack): Buffer<ArrayBuffer> {
  const { bookings, failures } = pack;
  const keys = KEY_KINDS.map((kind) => pack.keys[kind]);
  const texts = Buffer.from(JSON.stringify([listValues(pack.widgets), listValues(bookings.services)]));
  const places = [...keys, pack.widgets, bookings.services].map((column) => column.places);
  const header = Uint32Array.of(
    ...[FORMAT, pack.starts.length, bookings.visits.length, failures.visits.length, texts.length],
    ...[pack.widgets.values.length, bookings.services.values.length, ...keys.map(({ values }) => values.length), 0],
  );
  const parts = [
    ...[header, ...keys.map(({ values }) => Float64Array.from(values)), bookings.atMs, bookings.leadMs, failures.atMs],
    ...[pack.starts, ...places.filter((each) => each instanceof Uint32Array)],
    ...[bookings.visits, failures.visits, ...places.filter((each) => each instanceof Uint16Array)],
    ...[pack.stages, ...places.filter((each) => each instanceof Uint8Array), texts],
  ];
  return Buffer.concat(parts.map(({ buffer, byteOffset, byteLength }) => Buffer.from(buffer, byteOffset, byteLength)));
}

export function decodePack(dayMs: number, bytes: Buffer<ArrayBuffer>): VisitPack {
  const reader = new Reader(bytes);
  const [format, visits = 0, bookings = 0, failures = 0, textBytes = 0, widgets = 0, services = 0, ...keyCounts] =
    reader.take(Uint32Array, HEADER_NUMBERS);
  assert(format === FORMAT, "there is one format of packs");
  assert(visits <= PACK_VISITS_MAX, "packs are as short as those who count them expect");
  const keyValues = KEY_KINDS.map((_, i) => reader.take(Float64Array, keyCounts[i] ?? 0));
  const bookedAtMs = reader.take(Float64Array, bookings);
  const leadMs = reader.take(Float64Array, bookings);
  const failedAtMs = reader.take(Float64Array, failures);
  const columns = [
    ...KEY_KINDS.map((_, i) => ({ rows: visits, values: keyCounts[i] ?? 0 })),
    { rows: visits, values: widgets },
    { rows: bookings, values: services },
  ];
  const places: Column<unknown>["places"][] = [];
  const takePlaces = (type: ReturnType<typeof toPlacesType>) =>
    columns.forEach(({ rows, values }, i) => {
      if (toPlacesType(values) === type) places[i] = reader.take<Column<unknown>["places"]>(type, rows);
    });
  const starts = reader.take(Uint32Array, visits);
  takePlaces(Uint32Array);
  const bookedVisits = reader.take(Uint16Array, bookings);
  const failedVisits = reader.take(Uint16Array, failures);
  takePlaces(Uint16Array);
  const stages = reader.take(Uint8Array, visits);
  takePlaces(Uint8Array);
  const [widgetIds, serviceNames] = JSON.parse(reader.takeText(textBytes)) as [string[], string[]];
  const toColumn = <Value>(index: number, values: ArrayLike<Value>): Column<Value> => ({
    places: places[index] as Column<Value>["places"],
    values,
  });
  return {
    ...{ dayMs, starts, stages },
    keys: toRecord((kind) => toColumn(KEY_KINDS.indexOf(kind), keyValues[KEY_KINDS.indexOf(kind)] as Float64Array)),
    widgets: toColumn(KEY_KINDS.length, widgetIds),
    bookings: {
      visits: bookedVisits,
      atMs: bookedAtMs,
      leadMs,
      services: toColumn(KEY_KINDS.length + 1, serviceNames),
    },
    failures: { visits: failedVisits, atMs: failedAtMs },
  };
}

function listValues(column: Column<string>): string[] {
  return Array.from(column.values);
}

type NumberArray<Numbers> = {
  new (buffer: ArrayBuffer, byteOffset: number, length: number): Numbers;
  readonly BYTES_PER_ELEMENT: number;
};

class Reader {
  readonly #buffer: ArrayBuffer;
  #offset: number;

  /** Short buffers may begin anywhere in a larger one. */
  constructor(bytes: Buffer<ArrayBuffer>) {
    const { buffer, byteOffset } = bytes.byteOffset % 8 === 0 ? bytes : new Uint8Array(bytes);
    this.#buffer = buffer;
    this.#offset = byteOffset;
  }

  take<Numbers>(type: NumberArray<Numbers>, length: number): Numbers {
    const offset = this.#offset;
    this.#offset += length * type.BYTES_PER_ELEMENT;
    return new type(this.#buffer, offset, length);
  }

  takeText(bytes: number): string {
    return Buffer.from(this.#buffer, this.#offset, bytes).toString();
  }
}
