import type { Client } from "./client.ts";
import type { Booking } from "./types.ts";

// Keeps a copy of the bookings in step. createdAt is unique within an organization and becomes visible in order, so all that
// is newer than the newest booking seen is found by `since`; pages come newest first. After every page the store is given the
// place: what it holds for certain. A place is always true of the store that has it, so a run may be cut off between any two
// steps, and even run twice at once: the next one goes on from there, and whatever comes again is upserted.

export type BookingStore = {
  /** The place that came with the last upsert; null before the first. */
  readPlace(): Promise<string | null> | string | null;
  /**
   * Inserts each booking, or replaces the one with its `reference`, and keeps the place: in one transaction, or else the
   * bookings first and the place once they are safe. There may be no bookings, only a place.
   */
  upsert(bookings: Booking[], place: string): Promise<void> | void;
};

/** Everything up to `since` is stored; of a walk under way also everything from `cursor` to `newest`, both included. */
type Place = {
  widget: string | null;
  since: string | null;
  walk: { newest: string; cursor: string } | null;
};

export type SyncOptions = {
  store: BookingStore;
  /** Only this widget's bookings. A store belongs to one widget, or to all of them. */
  widget?: string | undefined;
  /** How many bookings come with one request, and are upserted at once. Default and most: 500. */
  limit?: number | undefined;
  signal?: AbortSignal | undefined;
};

const LIMIT_DEFAULT = 500;

/** Brings the store up to date and returns how many bookings it was given, known ones included. */
export async function syncBookings(client: Pick<Client, "bookings">, options: SyncOptions): Promise<number> {
  const place = readPlace(await options.store.readPlace(), options.widget ?? null);
  const left = place.walk ? await walk(client, options, place) : { place, count: 0 };
  const fresh = await walk(client, options, left.place);
  return left.count + fresh.count;
}

/** From the newest booking, or from where the walk under way has got to, back to `since`. */
async function walk(
  client: Pick<Client, "bookings">,
  { store, widget, limit = LIMIT_DEFAULT, signal }: SyncOptions,
  start: Place,
): Promise<{ place: Place; count: number }> {
  const since = start.since ?? undefined;
  let place = start;
  let count = 0;
  for await (const page of client.bookings({ since, widget, limit, signal, cursor: start.walk?.cursor }).pages()) {
    const newest = place.walk?.newest ?? page.data[0]?.createdAt;
    if (newest === undefined) break;
    place =
      page.nextCursor === null
        ? { ...start, since: newest, walk: null }
        : { ...start, walk: { newest, cursor: page.nextCursor } };
    await store.upsert(page.data, JSON.stringify(place));
    count += page.data.length;
  }
  return { place, count };
}

function readPlace(text: string | null, widget: string | null): Place {
  if (text === null) return { widget, since: null, walk: null };
  const place = parsePlace(text);
  if (place === null) throw new TypeError("The store's readPlace gave something that never was a place of a sync.");
  if (place.widget !== widget)
    throw new TypeError(
      `The store holds bookings of ${place.widget ?? "all widgets"}; keep those of ${widget ?? "all widgets"} in another.`,
    );
  return place;
}

function parsePlace(text: string): Place | null {
  try {
    const { widget, since, walk } = JSON.parse(text) as Partial<Place>;
    const isPlace =
      (widget === null || typeof widget === "string") &&
      (since === null || typeof since === "string") &&
      (walk === null || (typeof walk?.newest === "string" && typeof walk.cursor === "string"));
    return isPlace ? { widget, since, walk } : null;
  } catch {
    return null;
  }
}
