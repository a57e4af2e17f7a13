import { ChangePage } from "#contract/change.ts";
import { ChangesQuery } from "#contract/read-api.ts";
import type { Deps } from "../../deps.ts";
import { type ReadApi, readApiResponses } from "../../http/read-api.ts";
import { readNewest } from "../stored/read-newest.ts";
import { listChanges } from "./change-queries.ts";

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
