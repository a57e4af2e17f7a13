import { NOT_SET } from "#contract/dimensions.ts";
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
export function toPlacesType(values: number): typeof Uint8Array | typeof Uint16Array | typeof Uint32Array {
  if (values <= 2 ** 8) return Uint8Array;
  return values <= 2 ** 16 ? Uint16Array : Uint32Array;
}
