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
  /** Twice the furthest step, from 1, and one more for visits that found no free times. */
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
  readonly startedMs: readonly number[];
  readonly stages: readonly number[];
  readonly keys: Readonly<Record<KeyKind, readonly number[]>>;
  readonly widgets: readonly string[];
  readonly bookings: readonly (Conversions | null)[];
  readonly failures: readonly (Conversions | null)[];
};

/** All visits started on the day. */
export function toPack(dayMs: number, columns: VisitColumns): VisitPack {
  const bookings = listConversions(columns.bookings);
  const failures = listConversions(columns.failures);
  return {
    dayMs,
    starts: Uint32Array.from(columns.startedMs, (ms) => ms - dayMs),
    stages: Uint8Array.from(columns.stages),
    keys: toRecord((kind) => toColumn(columns.keys[kind])),
    widgets: toColumn(columns.widgets),
    bookings: {
      visits: Uint16Array.from(bookings.visits),
      atMs: Float64Array.from(bookings.times, ([atMs]) => atMs),
      leadMs: Float64Array.from(bookings.times, ([, leadMs]) => leadMs ?? Number.NaN),
      services: toColumn(bookings.times.map(([, , service]) => service ?? NOT_SET)),
    },
    failures: { visits: Uint16Array.from(failures.visits), atMs: Float64Array.from(failures.times, ([atMs]) => atMs) },
  };
}

/** Few visits have any, so this makes nothing for the others. */
function listConversions(ofVisits: VisitColumns["bookings"]): { visits: number[]; times: Conversions[string][] } {
  const [visits, times]: [number[], Conversions[string][]] = [[], []];
  for (let visit = 0; visit < ofVisits.length; visit++) {
    const conversions = ofVisits[visit];
    if (!conversions) continue;
    for (const each of Object.values(conversions)) {
      visits.push(visit);
      times.push(each);
    }
  }
  return { visits, times };
}

export const NO_VISITS: VisitColumns = {
  startedMs: [],
  stages: [],
  keys: toRecord(() => []),
  widgets: [],
  bookings: [],
  failures: [],
};

export function toRecord<Value>(make: (kind: KeyKind) => Value): Record<KeyKind, Value> {
  return Object.fromEntries(KEY_KINDS.map((kind) => [kind, make(kind)])) as Record<KeyKind, Value>;
}

function toColumn<Value>(all: readonly Value[]): Column<Value> {
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
