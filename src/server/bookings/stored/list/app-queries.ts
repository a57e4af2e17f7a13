import type { OrganizationId, Reference } from "#contract/ids.ts";
import type { Db } from "../../../db/connections/pool.ts";
import { readAtHome } from "../../../db/home.ts";
import { BOOKING_COLUMNS, type BookingRow } from "../queries.ts";
import { countInRange, type ListFilter, selectInOrder } from "./list-queries.ts";
import { containsText, countFound, searchBookings } from "./search-queries.ts";
import type { SearchedPart } from "./search-terms.ts";

export type AppBookingFilter = ListFilter & { search: string | null; parts: readonly SearchedPart[] };

/** Only matching bookings if there is a search text. */
export async function listBookings(db: Db, owner: OrganizationId, filter: AppBookingFilter): Promise<BookingRow[]> {
  const { search } = filter;
  if (search === null) return await selectInOrder(db, owner, filter);
  return await searchInOrder(db, owner, { ...filter, search });
}

/** Matches that are sorted in memory. A text with more matches is frequent: reading bookings in order finds a page soon. */
const SORTED_MAX = 1_000;

async function searchInOrder(
  db: Db,
  owner: OrganizationId,
  filter: AppBookingFilter & { search: string },
): Promise<BookingRow[]> {
  if (filter.sort === "newest") return await searchBookings(db, owner, filter);
  const found = await searchBookings(db, owner, { ...filter, limit: SORTED_MAX + 1 });
  if (found.length > SORTED_MAX) return await selectInOrder(db, owner, filter, containsText(filter));
  return found.sort(COMPARISONS[filter.sort]).slice(0, filter.limit);
}

const bySoonest = (a: BookingRow, b: BookingRow) =>
  a.start_at.getTime() - b.start_at.getTime() || (a.reference < b.reference ? -1 : 1);

const COMPARISONS = {
  oldest: (a: BookingRow, b: BookingRow) => a.created_at.getTime() - b.created_at.getTime(),
  soonest: bySoonest,
  latest: (a: BookingRow, b: BookingRow) => bySoonest(b, a),
};

/** The filter's next page, whose first booking follows the given one. */
export function continueAfter<Filter extends Omit<ListFilter, "limit">>(
  filter: Filter,
  last: { at: Date; reference: Reference },
): Filter {
  const { createdFrom, createdBefore } = filter;
  switch (filter.sort) {
    case "newest":
      return { ...filter, createdBefore: createdBefore && createdBefore < last.at ? createdBefore : last.at };
    case "oldest": {
      // createdAt has whole milliseconds and is unique.
      const next = new Date(last.at.getTime() + 1);
      return { ...filter, createdFrom: createdFrom > next ? createdFrom : next };
    }
    case "soonest":
    case "latest":
      return { ...filter, after: { startAt: last.at, reference: last.reference } };
  }
}

export function toPosition(row: BookingRow, sort: AppBookingFilter["sort"]): { at: Date; reference: Reference } {
  const isByStart = sort === "soonest" || sort === "latest";
  return { at: isByStart ? row.start_at : row.created_at, reference: row.reference };
}

/** Counts up to the filter's limit. */
export async function countBookings(db: Db, owner: OrganizationId, filter: AppBookingFilter): Promise<number> {
  const { search } = filter;
  return search === null
    ? await countInRange(db, owner, filter)
    : await countFound(db, owner, { ...filter, search, sort: "newest" });
}

export async function findBooking(
  db: Db,
  owner: OrganizationId,
  { reference, createdFrom }: { reference: Reference; createdFrom: Date },
): Promise<BookingRow | null> {
  const row = await readAtHome(db, owner, (home) =>
    home
      .selectFrom("bookings")
      .select(BOOKING_COLUMNS)
      .where("organization_id", "=", owner)
      .where("reference", "=", reference)
      .where("created_at", ">=", createdFrom)
      .executeTakeFirst(),
  );
  return row ?? null;
}
