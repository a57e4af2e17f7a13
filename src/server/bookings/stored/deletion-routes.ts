import { DeletionPage } from "#contract/deletion.ts";
import { DeletionsQuery } from "#contract/read-api.ts";
import { callerOf } from "../../api-keys/bearer-auth.ts";
import type { Deps } from "../../deps.ts";
import { readPage } from "../../http/paging.ts";
import { type Query, readInstant, readPageSize } from "../../http/parameters.ts";
import { type ReadApi, readApiResponses } from "../../http/read-api.ts";
import { toKeptSince } from "../../plans/kept-since.ts";
import { listDeletions } from "./deletion-queries.ts";

/** GET /api/v1/deletions */
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
    async (request) => {
      const { organizationId: owner, plan } = callerOf(request);
      const query = request.query as Query;
      const [since, before] = [readInstant(query, "since", "down"), readInstant(query, "cursor", "up")];
      const keptSince = toKeptSince(plan, deps.clock.now());
      const from = since && since > keptSince ? since : keptSince;
      const { rows: data, nextCursor } = await readPage({
        limit: readPageSize(query, "limit"),
        read: (limit) => listDeletions(deps.db, owner, { from, before, limit }),
        toCursor: (last) => last.deletedAt,
      });
      return { data, nextCursor };
    },
  );
}
