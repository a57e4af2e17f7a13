import type { OrganizationId } from "#contract/ids.ts";
import type { Db } from "../../db/pool.ts";
import { type EventFilter, LISTED_MAX, listNewEvents, readListing, selectListedEvents } from "./queries.ts";

type Page = { bodies: Buffer[]; nextCursor: Date; hasMore: boolean };

const START = new Date(0);

/** Lists new events if the page has room for them, at most one batch. Further ones are for the next page, so a page may be empty. */
export async function readEventPage(
  db: Db,
  owner: OrganizationId,
  { limit, now, ...filter }: Omit<EventFilter, "listedUntil"> & { now: Date },
): Promise<Page> {
  const first = await readListed(db, owner, { ...filter, limit });
  if (first.hasMore || !first.hasUnlisted) return first;
  const listed = await listNewEvents(db, owner, now);
  const second = await readListed(db, owner, { ...filter, limit });
  return { ...second, hasMore: second.hasMore || listed === LISTED_MAX };
}

async function readListed(
  db: Db,
  owner: OrganizationId,
  filter: Omit<EventFilter, "listedUntil">,
): Promise<Page & { hasUnlisted: boolean }> {
  const { listedUntil, hasUnlisted } = await readListing(db, owner);
  const wanted = { ...filter, listedUntil: listedUntil ?? START, limit: filter.limit + 1 };
  const found = await selectListedEvents(db, owner, wanted);
  const page = found.slice(0, filter.limit);
  const hasMore = found.length > page.length;
  const readUntil = (hasMore ? page.at(-1)?.listedAt : listedUntil) ?? filter.listedAfter ?? START;
  return { bodies: page.map(({ body }) => body), nextCursor: readUntil, hasMore, hasUnlisted };
}
