import { type OrganizationId, parseReference } from "#contract/ids.ts";
import type { Caller, ReadRoutes } from "../../../api-keys/api-keys.ts";
import type { Deps } from "../../../deps.ts";
import { notFound } from "../../../http/errors/api-error.ts";
import { readPage } from "../../../http/paging.ts";
import { type Query, readInstant, readPageSize } from "../../../http/parameters.ts";
import { toKeptSince } from "../../../organizations/organizations.ts";
import { listChanges } from "../../changes/change-queries.ts";
import { listDeletions } from "../erase/deletion-queries.ts";
import { toAnonymous, toApiJson } from "../to-api-json.ts";
import { findBooking } from "./app-queries.ts";
import { readBookingPage } from "./read-page.ts";

export function bookingReadRoutes(routes: ReadRoutes, deps: Pick<Deps, "db" | "clock">): void {
  routes.add("listBookings", async ({ caller, query }) => await readBookingPage(deps, caller, query));

  routes.add("getBooking", async ({ caller: { organizationId, plan, scopes }, params }) => {
    const reference = parseReference(params["reference"] ?? "");
    const createdFrom = toKeptSince(plan, deps.clock.now());
    const row = reference && (await findBooking(deps.db, organizationId, { reference, createdFrom }));
    if (!row) throw notFound("Booking");
    const booking = toApiJson(row);
    return scopes.includes("bookings") ? booking : toAnonymous(booking);
  });

  routes.add("listChanges", async (call) => {
    const list = (owner: OrganizationId, range: Range) => listChanges(deps.db, owner, range);
    return await readNewest(deps, call, { list, toCursor: ({ changedAt }) => changedAt });
  });

  routes.add("listDeletions", async (call) => {
    const list = (owner: OrganizationId, range: Range) => listDeletions(deps.db, owner, range);
    return await readNewest(deps, call, { list, toCursor: ({ deletedAt }) => deletedAt });
  });
}

type Range = { from: Date; before: Date | null; limit: number };

/** A page of what happened to bookings, newest first, with `since`, `cursor` and `limit`. Retention also holds at read time. */
async function readNewest<Item>(
  deps: Pick<Deps, "clock">,
  { caller, query }: { caller: Caller; query: Query },
  {
    list,
    toCursor,
  }: { list: (owner: OrganizationId, range: Range) => Promise<Item[]>; toCursor: (item: Item) => string },
): Promise<{ data: Item[]; nextCursor: string | null }> {
  const { organizationId: owner, plan } = caller;
  const [since, before] = [readInstant(query, "since", "down"), readInstant(query, "cursor", "up")];
  const keptSince = toKeptSince(plan, deps.clock.now());
  const from = since && since > keptSince ? since : keptSince;
  const { rows: data, nextCursor } = await readPage({
    limit: readPageSize(query, "limit"),
    read: (limit) => list(owner, { from, before, limit }),
    toCursor,
  });
  return { data, nextCursor };
}
