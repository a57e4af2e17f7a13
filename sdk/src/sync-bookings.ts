import type { Client } from "./client.ts";
import type { Booking, Change } from "./types.ts";

// Keeps a copy of the bookings up to date. createdAt is unique within an organization and becomes visible in order, so
// `since` finds everything newer than the newest booking seen; pages come newest first. Deletions have a deletedAt of the same
// kind. After every page the store gets the checkpoint: what it now holds for certain. Because a checkpoint is always true of its store, a
// run may be cut off at any point: the next run continues from the checkpoint, repeated bookings are upserted, and repeated
// deletions find nothing to delete.
//
// A store must have one run at a time. Otherwise one run may upsert a booking that it read before the booking was erased, after
// the other run has applied that deletion and before it saves the next page. If the first run is then cut off, the booking stays.
//
// Bookings are read before changes, and changes before deletions. A booking that is changed or deleted in between is changed or
// deleted in the store in the same run or, at the latest, in the next; a reference is never used again. Of several changes of a
// booking, the store gets the last one only, and changes are saved from old to new: so a booking never goes back to an earlier state
// for longer than a run.

export type BookingStore = {
  /** The checkpoint from the last upsert or delete; null before the first one. */
  readCheckpoint(): Promise<string | null> | string | null;
  /**
   * Inserts each booking, or replaces the one with its `reference`, and saves the checkpoint: in one transaction, or else the
   * bookings first and the checkpoint once they are safe. The list of bookings may be empty.
   */
  upsert(bookings: Booking[], checkpoint: string): Promise<void> | void;
  /**
   * Writes `status`, `start` and `end` into the bookings with these references, if the store has them, and saves the checkpoint in
   * the same way. Without this function, appointments that were cancelled or moved stay in the store as they were booked.
   */
  change?(changes: Change[], checkpoint: string): Promise<void> | void;
  /**
   * Deletes the bookings with these references, if the store has them, and saves the checkpoint in the same way. Without this
   * function, bookings that were erased stay in the store.
   */
  delete?(references: string[], checkpoint: string): Promise<void> | void;
};

/** Everything up to `since` is stored. An unfinished walk has also stored everything from `cursor` to `newest`, inclusive. */
type Progress = {
  since: string | null;
  walk: { newest: string; cursor: string } | null;
};

/** `changes` and `deletions` are missing until they are followed. All changes up to `since` are stored. */
type Checkpoint = Progress & { widget: string | null; changes?: { since: string | null }; deletions?: Progress };

export type SyncOptions = {
  store: BookingStore;
  /** Only this widget's bookings. A store belongs to one widget, or to all of them. */
  widget?: string | undefined;
  /** Bookings per request and upsert. Default and maximum: 500. */
  limit?: number | undefined;
  signal?: AbortSignal | undefined;
};

const LIMIT_DEFAULT = 500;

/**
 * Brings the store up to date and returns how many bookings were upserted, known ones included. May be cut off at any point, but
 * a store must have only one run at a time.
 */
export async function syncBookings(
  client: Pick<Client, "bookings" | "changes" | "deletions">,
  options: SyncOptions,
): Promise<number> {
  const { store, widget, signal, limit = LIMIT_DEFAULT } = options;
  const saved = await store.readCheckpoint();
  let checkpoint = readCheckpoint(saved, widget ?? null);
  const followsDeletions = store.delete !== undefined;
  const followsChanges = store.change !== undefined;
  // A new store gets every booking as it is now.
  if (followsChanges && !checkpoint.changes) {
    const since = saved === null ? await findNewest(client.changes({ limit: 1, signal }), toChangedAt) : null;
    checkpoint = { ...checkpoint, changes: { since } };
  }
  if (followsDeletions && !checkpoint.deletions) {
    const since = saved === null ? await findNewest(client.deletions({ limit: 1, signal }), toDeletedAt) : null;
    checkpoint = { ...checkpoint, deletions: { since, walk: null } };
  }

  const count = await walk(checkpoint, {
    read: (query) => client.bookings({ ...query, widget, limit, signal }).pages(),
    timeOf: ({ createdAt }) => createdAt,
    async save(bookings, progress) {
      checkpoint = { ...checkpoint, ...progress };
      await store.upsert(bookings, JSON.stringify(checkpoint));
    },
  });
  if (followsChanges) {
    const changes = await readChanges(client, { since: checkpoint.changes?.since ?? null, limit, signal });
    for (let done = 0; done < changes.length; done += limit) {
      const batch = changes.slice(done, done + limit);
      checkpoint = { ...checkpoint, changes: { since: batch.at(-1)?.changedAt ?? null } };
      await store.change?.(batch, JSON.stringify(checkpoint));
    }
  }
  if (followsDeletions)
    await walk(checkpoint.deletions ?? START, {
      read: (query) => client.deletions({ ...query, limit, signal }).pages(),
      timeOf: toDeletedAt,
      async save(deleted, progress) {
        checkpoint = { ...checkpoint, deletions: progress };
        const references = deleted.map(({ reference }) => reference);
        await store.delete?.(references, JSON.stringify(checkpoint));
      },
    });
  return count;
}

const START: Progress = { since: null, walk: null };

const toChangedAt = ({ changedAt }: { changedAt: string }) => changedAt;
const toDeletedAt = ({ deletedAt }: { deletedAt: string }) => deletedAt;

async function findNewest<Item>(items: AsyncIterable<Item>, timeOf: (item: Item) => string): Promise<string | null> {
  for await (const item of items) return timeOf(item);
  return null;
}

/** The last change of each booking, oldest first. `since` is known already, though the service includes it. */
async function readChanges(
  client: Pick<Client, "changes">,
  { since, limit, signal }: { since: string | null; limit: number; signal: AbortSignal | undefined },
): Promise<Change[]> {
  const last = new Map<string, Change>();
  for await (const change of client.changes({ ...(since === null ? {} : { since }), limit, signal }))
    if (change.changedAt !== since && !last.has(change.reference)) last.set(change.reference, change);
  return [...last.values()].reverse();
}

type Walk<Item> = {
  read: (query: { since?: string; cursor?: string }) => AsyncIterable<{ data: Item[]; nextCursor: string | null }>;
  timeOf: (item: Item) => string;
  save: (items: Item[], progress: Progress) => Promise<void>;
};

/** Finishes an unfinished walk, then walks from the newest item back to what is known. Returns how many were saved. */
async function walk<Item>(start: Progress, { read, timeOf, save }: Walk<Item>): Promise<number> {
  let progress: Progress = { since: start.since, walk: start.walk };
  let count = 0;
  for (const isUnfinished of progress.walk ? [true, false] : [false]) {
    const { since } = progress;
    const cursor = isUnfinished ? progress.walk?.cursor : undefined;
    for await (const page of read({
      ...(since === null ? {} : { since }),
      ...(cursor === undefined ? {} : { cursor }),
    })) {
      const [first] = page.data;
      const newest = progress.walk?.newest ?? (first && timeOf(first));
      if (newest === undefined) break;
      progress =
        page.nextCursor === null ? { since: newest, walk: null } : { since, walk: { newest, cursor: page.nextCursor } };
      await save(page.data, progress);
      count += page.data.length;
    }
  }
  return count;
}

function readCheckpoint(text: string | null, widget: string | null): Checkpoint {
  if (text === null) return { widget, ...START };
  const checkpoint = parseCheckpoint(text);
  if (checkpoint === null)
    throw new TypeError("The store's readCheckpoint returned something that syncBookings never saved.");
  if (checkpoint.widget !== widget)
    throw new TypeError(
      `This store holds bookings of ${checkpoint.widget ?? "all widgets"}. Use another store for ${widget ?? "all widgets"}.`,
    );
  return checkpoint;
}

function parseCheckpoint(text: string): Checkpoint | null {
  try {
    const { widget, since, walk, changes, deletions } = JSON.parse(text) as Partial<Checkpoint>;
    const progress = parseProgress({ since, walk });
    const ofDeletions = deletions === undefined ? undefined : parseProgress(deletions);
    const ofChanges = changes === undefined ? undefined : parseProgress({ since: changes.since, walk: null });
    const isCheckpoint =
      progress !== null &&
      ofDeletions !== null &&
      ofChanges !== null &&
      (widget === null || typeof widget === "string");
    if (!isCheckpoint) return null;
    return {
      widget,
      ...progress,
      ...(ofChanges ? { changes: { since: ofChanges.since } } : {}),
      ...(ofDeletions ? { deletions: ofDeletions } : {}),
    };
  } catch {
    return null;
  }
}

function parseProgress({ since, walk }: Partial<Record<keyof Progress, unknown>>): Progress | null {
  const { newest, cursor } = (walk ?? {}) as Record<string, unknown>;
  if (since !== null && typeof since !== "string") return null;
  if (walk === null) return { since, walk };
  return typeof newest === "string" && typeof cursor === "string" ? { since, walk: { newest, cursor } } : null;
}
