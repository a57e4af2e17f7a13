import type { OrganizationId } from "#contract/ids.ts";
import { CHOSEN_EVENT_TYPES } from "#contract/webhooks/endpoint.ts";
import type { ReadRoutes } from "../../api-keys/api-keys.ts";
import type { Db } from "../../db/connections/pool.ts";
import type { Deps } from "../../deps.ts";
import { readChoice, readInstant, readPageSize } from "../../http/parameters.ts";
import { toLogKeptSince } from "../log/queries.ts";
import { listEventTypes } from "../openapi-webhooks.ts";
import { type EventFilter, LISTED_MAX, listNewEvents, readListing, selectListedEvents } from "./queries.ts";

const EVENT_TYPES = JSON.stringify({ data: listEventTypes() });

export function eventReadRoutes(routes: ReadRoutes, deps: Pick<Deps, "db" | "clock">): void {
  routes.add("listEventTypes", async () => EVENT_TYPES);

  routes.add("listEvents", async ({ caller, query }) => {
    const now = deps.clock.now();
    const cursor = readInstant(query, "cursor", "down");
    const since = readInstant(query, "since", "down");
    const type = readChoice(query, "type", CHOSEN_EVENT_TYPES);
    const limit = readPageSize(query, "limit");
    const keptSince = toLogKeptSince(now);
    const page = await readEventPage(deps.db, caller.organizationId, {
      types: type === null ? CHOSEN_EVENT_TYPES : [type],
      createdFrom: cursor === null && since && since > keptSince ? since : keptSince,
      listedAfter: cursor,
      limit,
      now,
    });
    // The bodies are JSON already.
    const data = page.bodies.map(String).join(",");
    return `{"data":[${data}],"nextCursor":"${page.nextCursor.toISOString()}","hasMore":${page.hasMore}}`;
  });
}

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
