import type { Client } from "./client.ts";
import type { Booking } from "./types.ts";

// Keeps a copy of the bookings up to date. createdAt is unique within an organization and becomes visible in order, so
// `since` finds everything newer than the newest booking seen; pages come newest first. After every page the store gets the
// place: what it now holds for certain. Because a place is always true of its store, a run may be cut off at any point, or
// even run twice at once: the next run continues from the place, and repeated bookings are upserted.

export type BookingStore = {
  /** The place from the last upsert; null before the first one. */
  readPlace(): Promise<string | null> | string | null;
  /**
   * Inserts each booking, or replaces the one with its `reference`, and saves the place: in one transaction, or else the
   * bookings first and the place once they are safe. The list of bookings may be empty.
   */
  upsert(bookings: Booking[], place: string): Promise<void> | void;
};

/** Everything up to `since` is stored. An unfinished walk has also stored everything from `cursor` to `newest`, inclusive. */
type Place = {
  widget: string | null;
  since: string | null;
  walk: { newest: string; cursor: string } | null;
};

export type SyncOptions = {
  store: BookingStore;
  /** Only this widget's bookings. A store belongs to one widget, or to all of them. */
  widget?: string | undefined;
  /** Bookings per request and upsert. Default and maximum: 500. */
  limit?: number | undefined;
  signal?: AbortSignal | undefined;
};

const LIMIT_DEFAULT = 500;

/** Brings the store up to date and returns how many bookings were upserted, known ones included. */
export async function syncBookings(client: Pick<Client, "bookings">, options: SyncOptions): Promise<number> {
  const place = readPlace(await options.store.readPlace(), options.widget ?? null);
  const unfinished = place.walk ? await walk(client, options, place) : { place, count: 0 };
  const fresh = await walk(client, options, unfinished.place);
  return unfinished.count + fresh.count;
}

/** Walks from the newest booking, or from where an unfinished walk stopped, back to `since`. */
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
  if (place === null) throw new TypeError("readPlace of the store returned something that syncBookings never saved.");
  if (place.widget !== widget)
    throw new TypeError(
      `This store holds bookings of ${place.widget ?? "all widgets"}. Use another store for ${widget ?? "all widgets"}.`,
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
