import { DeletionPage } from "#contract/deletion.ts";
import { DeletionsQuery } from "#contract/read-api.ts";
import type { Deps } from "../../deps.ts";
import { type ReadApi, readApiResponses } from "../../http/read-api.ts";
import { listDeletions } from "./deletion-queries.ts";
import { readNewest } from "./read-newest.ts";

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
