import type { FastifyRequest } from "fastify";
import { ChangePage } from "#contract/change.ts";
import { DeletionPage } from "#contract/deletion.ts";
import type { OrganizationId } from "#contract/ids.ts";
import { ChangesQuery, DeletionsQuery } from "#contract/read-api.ts";
import { callerOf } from "../../api-keys/api-keys.ts";
import type { Deps } from "../../deps.ts";
import { readPage } from "../../http/paging.ts";
import { type Query, readInstant, readPageSize } from "../../http/parameters.ts";
import { type ReadApi, readApiResponses } from "../../http/read-api.ts";
import { toKeptSince } from "../../organizations/organizations.ts";
import { listChanges } from "../changes/change-queries.ts";
import { listDeletions } from "./deletion-queries.ts";

export function deletionReadRoutes(api: ReadApi, deps: Pick<Deps, "db" | "clock">): void {
  api.get(
    "/deletions",
    {
      schema: {
        operationId: "listDeletions",
        summary: "List deleted bookings",
        description:
          "Stored bookings that were erased, deleted, or reached the end of their retention, newest first by deletedAt. Use it " +
          "to delete them from your copy too. No personal data is included.",
        querystring: DeletionsQuery,
        response: readApiResponses(DeletionPage, "One page of deletions."),
      },
    },
    async (request) =>
      await readNewest(deps, request, {
        list: (owner, range) => listDeletions(deps.db, owner, range),
        toCursor: ({ deletedAt }) => deletedAt,
      }),
  );
}

export function changeReadRoutes(api: ReadApi, deps: Pick<Deps, "db" | "clock">): void {
  api.get(
    "/changes",
    {
      schema: {
        operationId: "listChanges",
        summary: "List changes of bookings",
        description:
          "Appointments of stored bookings that were cancelled or moved, newest first by changedAt. Use it to keep your copy of the " +
          "bookings up to date. Changes of a booking that was deleted are gone with it. No personal data is included.",
        querystring: ChangesQuery,
        response: readApiResponses(ChangePage, "One page of changes."),
      },
    },
    async (request) =>
      await readNewest(deps, request, {
        list: (owner, range) => listChanges(deps.db, owner, range),
        toCursor: ({ changedAt }) => changedAt,
      }),
  );
}

type Range = { from: Date; before: Date | null; limit: number };

/** A page of what happened to bookings, newest first, with `since`, `cursor` and `limit`. Retention also holds at read time. */
async function readNewest<Item>(
  deps: Pick<Deps, "clock">,
  request: FastifyRequest,
  {
    list,
    toCursor,
  }: { list: (owner: OrganizationId, range: Range) => Promise<Item[]>; toCursor: (item: Item) => string },
): Promise<{ data: Item[]; nextCursor: string | null }> {
  const { organizationId: owner, plan } = callerOf(request);
  const query = request.query as Query;
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
